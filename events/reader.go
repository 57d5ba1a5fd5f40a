package events

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// ReaderVersion has the versions that a program can read, or the least ones that a log needs of its reader.
type ReaderVersion struct {
	Format  uint32 // of the files and of the form of records: every reader needs it
	Rules   uint32 // of the decisions: whoever goes on deciding needs it
	Fold    uint32 // of the states: whoever folds records needs it
	Program string // the first release that has these, or the version of the program itself; for people
}

// Reads reports whether a program of version v can read a log that needs least. A field that v leaves at 0 is not
// compared: a program that only prints records does not fold them.
func (v ReaderVersion) Reads(least ReaderVersion) bool {
	enough := func(has, needs uint32) bool { return has == 0 || has >= needs }
	return enough(v.Format, least.Format) && enough(v.Rules, least.Rules) && enough(v.Fold, least.Fold)
}

// Max gives the least version that a reader of both needs.
func (v ReaderVersion) Max(other ReaderVersion) ReaderVersion {
	both := ReaderVersion{
		Format: max(v.Format, other.Format), Rules: max(v.Rules, other.Rules), Fold: max(v.Fold, other.Fold), Program: v.Program,
	}
	if !v.Reads(other) || both.Program == "" {
		both.Program = other.Program
	}
	return both
}

// String is the program and the numbers that are known: "v0.1.0 (format 1, rules 4, fold 1)".
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

// ErrNewer: the log needs a newer program than this one. Nothing is wrong with the log.
var ErrNewer = errors.New("the log needs a newer jobledger")

// NewerError says which program a log needs. It is ErrNewer.
type NewerError struct {
	Writer string        // the version of the program that wrote the log; empty when it is not known
	Needs  ReaderVersion // zero when the log does not say it
	Has    ReaderVersion // this program
	What   string        // what this program does not know, when that was met before the log's own word
}

// Error says who wrote the log, what that needs, what this program is, and what to do.
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

// Is makes every NewerError an ErrNewer.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// ErrBefore: it was written before the first release, whose numbers began again at 1. Nothing is wrong with it.
var ErrBefore = errors.New("written by a jobledger of before the first release")

// BeforeError is ErrBefore. It names the thing that was written before the first version, and says what to do.
type BeforeError struct {
	What string // "this log"
	Do   string
}

// Error is one sentence.
func (e *BeforeError) Error() string {
	return fmt.Sprintf("%s was %v, and this one does not read it: %s", e.What, ErrBefore, e.Do)
}

// Is makes every BeforeError an ErrBefore.
func (e *BeforeError) Is(target error) bool { return target == ErrBefore }

// OtherReader reports whether err says that another program reads it: a newer one, or that of before the first release.
// Nothing is damaged then.
func OtherReader(err error) bool { return errors.Is(err, ErrNewer) || errors.Is(err, ErrBefore) }
