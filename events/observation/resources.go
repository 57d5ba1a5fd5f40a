package observation

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Resource is one resource of a [Feed], for a caller that lists and watches it. O is a pointer to the object type.
//
// For each list, the caller calls Asking before the request, Strip for each object that arrives, WaitTurn, and Replace.
// Then it calls Changed, Deleted or Bookmark for each event of a watch from the version of that list. It makes these
// calls in the order of the server's answers, one at a time. Calls for two resources may run at the same time.
//
// Errors wrap [ErrOlder] or [ErrUnusable].
type Resource[O kubewire.Object] interface {
	// Name returns the name of the resource in a listing.
	Name() events.Resource
	// Strip removes the fields of an object that are not used. It is idempotent.
	Strip(o O)
	// Asking records that a list is about to be requested. The list must not be older than what is known now.
	Asking()
	// WaitTurn waits until the list may be taken: until the first list of the resource before it was taken. It returns
	// false if stopped is closed before.
	WaitTurn(stopped <-chan struct{}) bool
	// Replace takes a complete list of stripped objects, at a resourceVersion. newest says that the list is of the newest
	// state: if it is older than what was seen, it proves a rewind. Any other list that is older is refused with
	// ErrOlder, and so is a list that was requested before a rewind. A refused list changes nothing.
	Replace(objects []O, version string, newest bool) error
	// Changed takes an object from the watch, and strips it. It ignores a version that is not newer than the last one
	// seen.
	Changed(o O) error
	// Deleted takes a deleted object from the watch.
	Deleted(o O) error
	// Bookmark takes a resourceVersion from the watch that came without an object.
	Bookmark(version string) error
}

// Jobs returns the resource of Jobs.
func (feed *Feed) Jobs() Resource[*kubewire.Job] { return feed.jobs }

// Pods returns the resource of pods. Its first list is taken after that of Jobs.
func (feed *Feed) Pods() Resource[*kubewire.Pod] { return feed.pods }

// CronJobs returns the resource of CronJobs; nil when they are not watched. Its first list is taken after that of pods.
func (feed *Feed) CronJobs() Resource[*kubewire.CronJob] {
	if feed.cronJobs == nil {
		return nil
	}
	return feed.cronJobs
}
