//go:build !linux || !(amd64 || arm64)

package powercut

import "os/exec"

// Recorder records the system calls with which processes change a directory. This platform has none: it needs Linux on
// amd64 or arm64.
type Recorder struct{}

// NewRecorder returns ErrCannotTrace on this platform.
func NewRecorder(string) (*Recorder, error) { return nil, ErrCannotTrace }

// KillAfter does nothing on this platform.
func (*Recorder) KillAfter(int) {}

// Trace returns nil on this platform.
func (*Recorder) Trace() *Trace { return nil }

// Run returns ErrCannotTrace on this platform.
func (*Recorder) Run(*exec.Cmd) error { return ErrCannotTrace }
