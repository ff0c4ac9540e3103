package auth

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const keyFile = "owner.key"

// LoadKey reads the key of the state directory, 32 bytes, and makes one first
// if there is none. It is called once the task store in the directory is open:
// the store refuses a directory open to others that holds anything else. With
// another key every owner is a new one and the tasks of the old ones are out of
// reach, so a key of the wrong length is an error and never replaced.
func LoadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKey(dir, path); err != nil {
		return nil, fmt.Errorf("owner key: %w; check the rights and the free space of the state directory", err)
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("owner key: %w", err)
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err != nil {
		return nil, fmt.Errorf("owner key: %w", err)
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("owner key: %s does not hold %d bytes; restore it, or delete it, which takes their tasks away from all owners", path, keySize)
	}
	// A volume or a restored backup may have opened it. Where its mode is not
	// ours to change the key is still good.
	_ = f.Chmod(0o600)
	return key, nil
}

// createKey puts a whole key at path, or leaves the one that another process
// has put there meanwhile: a link does not replace. Without links (some network
// and FAT volumes) a rename must do.
func createKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := writeKey(dir)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(temp, path); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// writeKey makes a file that only its owner can read, with a new key in it.
func writeKey(dir string) (name string, err error) {
	f, err := os.CreateTemp(dir, keyFile+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(f.Name())
		}
	}()
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	if _, err := f.Write(key); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// syncDir makes a new entry durable. Windows cannot sync a directory.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
