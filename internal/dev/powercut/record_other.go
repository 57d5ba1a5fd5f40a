//go:build !linux || !(amd64 || arm64)

package powercut

import "os/exec"

// Recorder records what processes do to a directory. It needs Linux on amd64 or arm64.
type Recorder struct{}

// NewRecorder returns ErrCannotTrace on this platform.
func NewRecorder(string) (*Recorder, error) { return nil, ErrCannotTrace }

// KillAfter does nothing.
func (*Recorder) KillAfter(int) {}

// Trace returns nil.
func (*Recorder) Trace() *Trace { return nil }

// Run returns ErrCannotTrace.
func (*Recorder) Run(*exec.Cmd) error { return ErrCannotTrace }
