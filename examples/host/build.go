package main

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
)

// build builds a package of this module into dir and points program at the
// result, unless it names one already.
func build(ctx context.Context, program *string, dir, pkg string) error {
	if *program != "" {
		return nil
	}
	say("building %s", path.Base(pkg))
	*program = filepath.Join(dir, path.Base(pkg))
	if runtime.GOOS == "windows" {
		*program += ".exe"
	}
	out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", *program, pkg).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
