package observation

import (
	"log/slog"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Config configures a feed. Mode and Key are required; a feed without a key serves tests only.
type Config struct {
	Mode     events.Mode     // selects the Jobs that this controller runs
	Draining bool            // do not take new Jobs
	Others   bool            // also report the Jobs of other controllers (events.Settings.ObserveOthers)
	CronJobs bool            // also watch CronJobs
	Gangs    bool            // report whether a controller owns a Job (events.GangRule.AsksBeta)
	Identity events.Identity // identity of the log, to recognise pods that this log created
	Key      events.Key      // key of the log, which hashes specs and templates
	Keeper   Keeper          // gets what the executor needs of unfinished Jobs; may be nil
	Known    Known           // objects that exist according to the log; zero when it knows none
	// KeepLabels lists the labels of Jobs to record; nil for UsualLabels, empty for none.
	KeepLabels []string
	Messages   *Messages    // decides how much is recorded of what containers write; nil for all
	Logger     *slog.Logger // nil for the default
	// Foreign is called with spec.managedBy of each new Job that is not ours (J-204). It must return at once; may be
	// nil.
	Foreign func(managedBy string)
	// Finished is called with each version of a Job of ours that has finished and is not being deleted. It must return
	// at once, and must not keep the Job; may be nil.
	Finished func(*kubewire.Job)
	// Relist is called when a resource must be listed again, with the feed's lock held. It must return at once, and must
	// not call the feed; may be nil, for a caller that asks MustList.
	Relist func(events.Resource)
	// Now returns the time of the wall clock, which a ListingStarted has; nil for a caller without one.
	Now func() events.Time
}

func (c *Config) defaults() {
	if c.Keeper == nil {
		c.Keeper = nobody{}
	}
	if c.Foreign == nil {
		c.Foreign = func(string) {}
	}
	if c.Finished == nil {
		c.Finished = func(*kubewire.Job) {}
	}
	if c.KeepLabels == nil {
		c.KeepLabels = UsualLabels
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = func() events.Time { return 0 }
	}
}
