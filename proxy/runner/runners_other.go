//go:build !unix

package runner

import (
	"context"
	"errors"
)

// CanDetach says that this system has runners.
const CanDetach = false

var errNoRunner = errors.New("this system has no runners: each process is one of its own (--detach never)")

// Front, Serve, Fork, Report, Ask, Stop and Dirs are for other systems.
func Front(context.Context, FrontOptions) error { return errNoRunner }

// Serve: see Front.
func Serve(context.Context, ServeOptions) error { return errNoRunner }

// Fork: see Front.
func Fork([]string) error { return errNoRunner }

// Keep: see Front.
func Keep(string, []string) error { return errNoRunner }

// CheckStarted: see Front.
func CheckStarted(string) error { return errNoRunner }

// Report: see Front.
func Report(error) {}

// Ask: see Front.
func Ask(string, string) (*Status, error) { return nil, nil }

// Stop: see Front.
func Stop(context.Context, string, string) (bool, error) { return false, nil }

// LogPath: see Front.
func LogPath(string) string { return "" }

// Dirs: see Front.
func Dirs(string) []string { return nil }

func refuseBesideRunner(string, string) error { return nil }
