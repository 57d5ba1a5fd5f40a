package store

import (
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Retention says how much of a log is kept. The zero value keeps everything.
//
// Files go whole, oldest first, and only when a later file stands alone. Consumers that have not got through a file
// hold it back, but only as long as the log stays below its greatest size:
//
//	bytes of the log   0 ......... Soft ............. Hard ........... MaxBytes
//	                   all stays   files go that      files go,        room for what is written
//	                               nobody waits for   whoever waits    until they are gone
type Retention struct {
	MaxBytes int64         // of all files of the log; 0 for any size
	MaxAge   time.Duration // of a record, about; 0 for any age
}

// Soft is the size from which on files go that no consumer waits for: four fifths, or less where Hard is less. Ahead is
// as in Stock.
func (r Retention) Soft(ahead int64) int64 { return min(r.MaxBytes*4/5, r.Hard(ahead)-r.MaxBytes/16) }

// Hard is the size in bytes above which files go even if a consumer still needs them: 7/8 of MaxBytes, or less where
// the log may grow by more at once.
func (r Retention) Hard(ahead int64) int64 { return r.MaxBytes - max(r.MaxBytes/8, ahead) }

// On reports whether anything is ever to go.
func (r Retention) On() bool { return r.MaxBytes > 0 || r.MaxAge > 0 }

// Stock is the input of a Retention: the files of a log and who still needs them.
type Stock struct {
	Now       events.Time
	Bytes     int64 // of all files of the log
	Ahead     int64 // by how much these may grow at once
	Files     []File
	Whole     events.Sequence            // with which the newest file begins that stands alone
	Consumers map[string]events.Sequence // through which record each consumer has got for whom records are kept
}

// Verdict is the output of a Retention: the files to remove.
type Verdict struct {
	Before events.Sequence // the files before this record go; 0 when none does
	Reason events.PruneReason
	Missed []events.Missed // what consumers miss by that
	// Held are the consumers that hold a file back which would go otherwise.
	Held []string
}

// mostFiles is how many files go at once: one record names them all.
const mostFiles = 32

// Judge decides which files of a log to remove.
func (r Retention) Judge(s Stock) (v Verdict) {
	left := s.Bytes
	missed := map[string]*events.Missed{}
	for i := 0; i+1 < len(s.Files) && s.Files[i+1].First <= s.Whole && i < mostFiles; i++ {
		f, through := s.Files[i], s.Files[i+1].First-1
		old := r.MaxAge > 0 && f.End.Time != 0 && s.Now.Sub(f.End.Time) > r.MaxAge
		large := r.MaxBytes > 0 && left > r.Soft(s.Ahead)
		if !old && !large {
			break
		}
		waiting := s.waiting(through)
		if len(waiting) > 0 && (r.MaxBytes == 0 || left <= r.Hard(s.Ahead)) {
			v.Held = waiting
			break
		}
		for _, name := range waiting {
			if missed[name] == nil {
				missed[name] = &events.Missed{Consumer: name, From: max(s.Consumers[name]+1, f.First)}
			}
			missed[name].Through = through
		}
		left -= f.Bytes
		v.Before = through + 1
		if v.Reason = events.PruneAge; large {
			v.Reason = events.PruneSize
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missed)) {
		v.Missed = append(v.Missed, *missed[name])
	}
	return v
}

// waiting are the consumers that have not got through that record, by name.
func (s *Stock) waiting(through events.Sequence) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Consumers)) {
		if s.Consumers[name] < through {
			names = append(names, name)
		}
	}
	return names
}
