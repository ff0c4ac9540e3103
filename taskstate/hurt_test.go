package taskstate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hurtFile damages one file of a store in one of three ways and says how.
func hurtFile(t *testing.T, dir string, rnd *rand.Rand) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	path := files[rnd.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(b, "\x00")) + 1
	at := rnd.IntN(used)
	how := fmt.Sprintf("%s, %d of %d bytes in use: ", filepath.Base(path), at, used)
	switch n := rnd.IntN(8); {
	case n < 5 && at < len(b):
		err = writeAt(path, []byte{b[at] ^ 1<<rnd.IntN(8)}, int64(at))
		how += "a bit turned"
	case n < 7:
		err = os.Truncate(path, int64(at))
		how += "cut"
	default:
		err = os.Remove(path)
		how += "deleted"
	}
	if err != nil {
		t.Fatal(err)
	}
	return how
}

func writeAt(path string, b []byte, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(b, at)
	return err
}

// Whatever happens to one file: the store says so, and nothing that it still
// says is wrong.
func TestNoDamageToAFileGoesUnnoticed(t *testing.T) {
	const cases = 12 // of each kind; 250 take some five minutes
	for _, how := range []struct {
		part string
		kill bool
	}{{"fill", false}, {"fill", true}, {"fresh", true}} {
		whole, ids := filledBy(t, how.part, how.kill)
		want := viewStore(t, copyStore(t, whole), ids)
		if want.Refused || want.Loss || len(want.Unsent) != 3 {
			t.Fatalf("undamaged: %+v", want)
		}
		for seed := range uint64(cases) {
			t.Run(fmt.Sprintf("%s/killed=%t/%d", how.part, how.kill, seed), func(t *testing.T) {
				dir := copyStore(t, whole)
				how := hurtFile(t, dir, rand.New(rand.NewPCG(seed, 1)))
				got := viewStore(t, dir, ids)
				for _, fault := range judge(dir, want, got) {
					t.Errorf("%s: %s", how, fault)
				}
			})
		}
	}
}

// judge returns what is wrong with what a damaged store says.
func judge(dir string, want, got viewed) (faults []string) {
	if got.Refused {
		if !got.Damaged || !strings.Contains(got.Err, dir) {
			faults = append(faults, "refused with "+got.Err)
		}
		return faults
	}
	if got.Loss && len(got.Unsent) > 0 {
		faults = append(faults, fmt.Sprintf("would send %v", got.Unsent))
	}
	for id, w := range want.Tasks {
		g := got.Tasks[id]
		lost, known := strings.HasPrefix(g.Err, "damaged=false"), strings.HasPrefix(g.Err, "damaged=true")
		earlier := got.Loss && (lost || !g.Status.Terminal() || g.Status == w.Status && bytes.Equal(g.Outcome, w.Outcome))
		same := g.Err == "" && g.Status == w.Status && g.Dispatched == w.Dispatched && bytes.Equal(g.Request, w.Request) && bytes.Equal(g.Outcome, w.Outcome)
		if !same && !known && !earlier {
			faults = append(faults, fmt.Sprintf("%s is %s %q, was %s", id, g.Status, g.Err, w.Status))
		}
	}
	return faults
}
