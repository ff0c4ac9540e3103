//go:build !linux

package commitlog

import "os"

func dataSync(f *os.File) error { return f.Sync() }
