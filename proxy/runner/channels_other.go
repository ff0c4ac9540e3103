//go:build !unix

package runner

import "io"

func unblocked(_ io.Reader, out io.Writer) (_ io.Writer, restore func()) { return out, func() {} }

func polled(in io.Reader) (_ io.Reader, release func()) { return in, func() {} }
