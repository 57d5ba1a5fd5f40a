package events

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// ReaderVersion holds the versions that a program can read, or the least versions that a log needs of a program that
// reads it.
type ReaderVersion struct {
	Format  uint32 // version of files and records: every reader needs it
	Rules   uint32 // version of the decision rules: needed by a program that goes on deciding
	Fold    uint32 // version of the states: needed by a program that computes states from records
	Program string // the first release with these versions, or the version of the program itself; for people
}

// Reads reports whether a program of version v can read a log that needs at least the version least. A field that is 0
// in v is not compared: for example, a program that only prints records has Fold 0.
func (v ReaderVersion) Reads(least ReaderVersion) bool {
	enough := func(has, needs uint32) bool { return has == 0 || has >= needs }
	return enough(v.Format, least.Format) && enough(v.Rules, least.Rules) && enough(v.Fold, least.Fold)
}

// Max returns the least version that can read both logs: that of v and that of other.
func (v ReaderVersion) Max(other ReaderVersion) ReaderVersion {
	both := ReaderVersion{
		Format: max(v.Format, other.Format), Rules: max(v.Rules, other.Rules), Fold: max(v.Fold, other.Fold), Program: v.Program,
	}
	if !v.Reads(other) || both.Program == "" {
		both.Program = other.Program
	}
	return both
}

// String returns the program and the known numbers: "v0.1.0 (format 1, rules 4, fold 1)".
func (v ReaderVersion) String() string {
	var parts []string
	for _, n := range []struct {
		name  string
		value uint32
	}{{"format", v.Format}, {"rules", v.Rules}, {"fold", v.Fold}} {
		if n.value != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", n.name, n.value))
		}
	}
	return cmp.Or(v.Program, "a jobledger") + " (" + strings.Join(parts, ", ") + ")"
}

// ErrNewer reports that the log needs a newer program than this one. The log is intact.
var ErrNewer = errors.New("the log needs a newer jobledger")

// NewerError says which program a log needs, because this one is too old. It matches ErrNewer in errors.Is.
type NewerError struct {
	Writer string        // version of the program that wrote the log; empty when unknown
	Needs  ReaderVersion // zero when the log does not say
	Has    ReaderVersion // version of this program
	What   string        // the unknown element, if the reader met it before the log's ReaderVersion
}

// Error names the writer of the log, the version that it needs, this program's version, and a remedy.
func (e *NewerError) Error() string {
	by := "a newer jobledger"
	if e.Writer != "" {
		by = "jobledger " + e.Writer
	}
	text := "this log was written by " + by
	use := "the one that wrote the log"
	if e.Needs != (ReaderVersion{}) {
		text += ", which needs at least reader " + e.Needs.String()
		use = cmp.Or(e.Needs.Program, use)
	}
	if e.What != "" {
		text += ": " + e.What
	}
	return fmt.Sprintf("%s; this one is %s: use %s or a newer one (nothing is wrong with the log)", text, e.Has, use)
}

// Is reports whether target is ErrNewer.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// ErrBefore reports that the log was written before the first release, when version numbers began again at 1. The log
// is intact.
var ErrBefore = errors.New("written by a jobledger of before the first release")

// BeforeError tells what was written before the first release, and the remedy. It matches ErrBefore in errors.Is.
type BeforeError struct {
	What string // for example "this log"
	Do   string
}

// Error returns one sentence: what was written before the first release, and the remedy.
func (e *BeforeError) Error() string {
	return fmt.Sprintf("%s was %v, and this one does not read it: %s", e.What, ErrBefore, e.Do)
}

// Is reports whether target is ErrBefore.
func (e *BeforeError) Is(target error) bool { return target == ErrBefore }

// OtherReader reports whether another program can read the log that err is about: a newer one, or one from before the
// first release. The log is then not damaged.
func OtherReader(err error) bool { return errors.Is(err, ErrNewer) || errors.Is(err, ErrBefore) }
