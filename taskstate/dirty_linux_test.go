package taskstate

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func init() { parts["journal"] = childJournal }

// childJournal says what a journal answers while the disk works, fails, and works again.
func childJournal(dir string) {
	d, err := disturb()
	if err != nil {
		fmt.Println("no filter:", err)
		os.Exit(0)
	}
	j, err := openJournal(dir)
	fmt.Println("opened", err == nil)
	say := func(what string, err error) { fmt.Println(what, err == nil) }
	d.mode.Store(diskFails)
	say("fails: clear of what a former process may have failed to clear", j.clear())
	d.mode.Store(diskWorks)
	say("works: clear", j.clear())
	say("works: append", j.append(1, []change{{[]byte("k"), []byte("v")}}))
	d.mode.Store(diskFails)
	say("fails: append", j.append(2, nil))
	say("fails: clear", j.clear())
	say("fails: clear again", j.clear())
	d.mode.Store(diskWorks)
	say("works: append before clear", j.append(2, nil))
	say("works: clear", j.clear())
	d.mode.Store(diskFails)
	say("fails: clear of an empty one", j.clear())
	d.mode.Store(diskWorks)
	say("works: append", j.append(2, nil))
	fmt.Println("end")
	os.Exit(0)
}

// A sync that failed is not made good by the file being empty, nor by the next sync.
func TestJournalIsNotTakenForEmptyBeforeASyncHasSucceeded(t *testing.T) {
	c := startChild(t, "journal", t.TempDir())
	var got []string
	for c.lines.Scan() && c.lines.Text() != "end" {
		got = append(got, c.lines.Text())
	}
	if len(got) > 0 && strings.HasPrefix(got[0], "no filter") {
		t.Skipf("the system does not let a process filter its own calls: seccomp: %s", got[0])
	}
	want := []string{
		"opened true",
		"fails: clear of what a former process may have failed to clear false",
		"works: clear true",
		"works: append true",
		"fails: append false",
		"fails: clear false",
		"fails: clear again false",
		"works: append before clear false",
		"works: clear true",
		"fails: clear of an empty one true",
		"works: append true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
