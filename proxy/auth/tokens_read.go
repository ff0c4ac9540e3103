package auth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"
)

// maxTokensFile bounds, in bytes, what is read of the file.
const maxTokensFile = 1 << 20

const (
	lineForm    = "write NAME sha256:HEX, with HEX from: printf %s \"$TOKEN\" | sha256sum"
	changeRight = "`chmod 600` it"
)

// read returns what is in the file now, and remembers which file that was.
func (t *tokens) read() ([]entry, error) {
	before := t.seen
	t.seen, t.settled = nil, false
	f, info, err := openRegular(t.path)
	if err != nil {
		return nil, fmt.Errorf("tokens file: %w", err)
	}
	defer f.Close()
	t.seen, t.settled = info, info.ModTime().Before(time.Now().Add(-settleTime))
	if before == nil || before.Mode() != info.Mode() {
		t.warnOpen(info)
	}
	if writableByAll(info) {
		return nil, fmt.Errorf("tokens file: %s can be changed by every user of this machine, who could add a token; %s", t.path, changeRight)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTokensFile+1))
	if err != nil {
		return nil, fmt.Errorf("tokens file: %w", err)
	}
	return parseTokens(t.path, data)
}

// openRegular looks before it opens: a named pipe would hold it up.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a file that can be read again", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func writableByAll(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0
}

// warnOpen: who can read the file learns names, and hashes. From those nobody
// gets back to a token that was made at random, but one that a person made up
// can be guessed. That is worth a warning and no refusal: files that a cluster
// mounts are readable by the group, often by all, and cannot be changed. The
// same goes for a group that may write.
func (t *tokens) warnOpen(info fs.FileInfo) {
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.log.Warn().Str("file", t.path).Stringer("mode", info.Mode().Perm()).
			Msg("the tokens file is open to other users, who can guess at weak tokens by their hashes; " + changeRight)
	}
}

// parseTokens quotes nothing of a line: a common mistake is to write the token
// itself.
func parseTokens(file string, data []byte) ([]entry, error) {
	if len(data) > maxTokensFile {
		return nil, fmt.Errorf("%s: larger than %d bytes; is it the right file?", file, maxTokensFile)
	}
	var list []entry
	names := map[[sha256.Size]byte]string{}
	number := 0
	for line := range strings.Lines(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		e, err := parseLine(line)
		if name, ok := names[e.hash]; err == nil && ok && name != e.name {
			err = errors.New("this token has another name in a line above; give each name a token of its own")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		names[e.hash] = e.name
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s:%d: there is no token in the file, so nobody could use the proxy; %s", file, max(number, 1), lineForm)
	}
	return list, nil
}

func parseLine(line string) (entry, error) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return entry{}, fmt.Errorf("not a name and a hash; %s", lineForm)
	}
	e := entry{name: fields[0]}
	text, ok := strings.CutPrefix(fields[1], "sha256:")
	if !ok {
		return entry{}, fmt.Errorf("the second word does not begin with sha256:; %s", lineForm)
	}
	n, err := hex.Decode(e.hash[:], []byte(text[:min(len(text), 2*sha256.Size)]))
	if err != nil || n != sha256.Size || len(text) != 2*sha256.Size {
		return entry{}, fmt.Errorf("what follows sha256: is not %d hexadecimal digits; %s", 2*sha256.Size, lineForm)
	}
	if e.hash == sha256.Sum256(nil) {
		return entry{}, errors.New("this is the hash of nothing: the variable that held the token was empty")
	}
	return e, nil
}
