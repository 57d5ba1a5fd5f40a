package store

import (
	"maps"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Retention decides how much of a log is kept. The zero value keeps everything.
//
// It deletes whole files, oldest first, and only if a later file is self-contained (readable without older files). A
// file that a consumer has not read completely is kept, but only while the log is smaller than Hard:
//
//	bytes of the log   0 ......... Soft ............. Hard ........... MaxBytes
//	                   all is      files that no      any file may     room for writes until
//	                   kept        consumer needs     be deleted       the files are deleted
type Retention struct {
	MaxBytes int64         // limit for all files together; 0 for no limit
	MaxAge   time.Duration // approximate limit for the age of a record; 0 for no limit
}

// Soft returns the size in bytes above which files are deleted that no consumer needs: 4/5 of MaxBytes, or less if Hard
// is lower. ahead is how much the log may grow at once (Stock.Ahead). Example: with MaxBytes 16 GiB and a small ahead,
// Soft is 12.8 GiB and Hard 14 GiB.
func (r Retention) Soft(ahead int64) int64 { return min(r.MaxBytes*4/5, r.Hard(ahead)-r.MaxBytes/16) }

// Hard returns the size in bytes above which files are deleted even if a consumer still needs them: 7/8 of MaxBytes, or
// less when the log may grow by more than 1/8 of MaxBytes at once.
func (r Retention) Hard(ahead int64) int64 { return r.MaxBytes - max(r.MaxBytes/8, ahead) }

// On reports whether anything is ever deleted.
func (r Retention) On() bool { return r.MaxBytes > 0 || r.MaxAge > 0 }

// Stock is the input of Judge: the files of a log, and the consumers that still read them.
type Stock struct {
	Now   events.Time
	Bytes int64 // size of all files of the log
	Ahead int64 // how much the log may grow at once (Pruner.Ahead)
	Files []File
	Whole events.Sequence // first record of the newest file that is self-contained
	// For each consumer whose unread files are kept: the record up to which it has read
	Consumers map[string]events.Sequence
}

// Verdict is the result of Judge: which files to delete, and why.
type Verdict struct {
	Before events.Sequence // delete all files before the one that begins with this record; 0 to delete none
	Reason events.PruneReason
	Missed []events.Missed // records that consumers (readers that follow the log) have not read before they are deleted
	// Held names the consumers because of which a file is kept that would otherwise be deleted.
	Held []string
}

// mostFiles limits the number of files that one Verdict deletes, because one Pruned record lists them all.
const mostFiles = 32

// Judge decides which files of a log to delete now.
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

// waiting returns the consumers that have not yet read record `through`, sorted by name.
func (s *Stock) waiting(through events.Sequence) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Consumers)) {
		if s.Consumers[name] < through {
			names = append(names, name)
		}
	}
	return names
}
