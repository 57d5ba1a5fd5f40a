package acting

import (
	"cmp"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/controller"
	"github.com/jobledger/jobledger/internal/run/lease"
)

// electFlags are the flags about the Lease, by which one controller at a time acts.
type electFlags struct {
	on              bool
	given           bool // the user gave --leader-elect
	duration, renew time.Duration
	retry           time.Duration
	namespace       string
	adopt           bool
	alone           bool
}

func (f *electFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "leader-elect", true, "work only while holding a Lease; without one nothing keeps two controllers apart that have two logs")
	flags.DurationVar(&f.duration, "leader-elect-lease-duration", lease.DefaultDuration, "how long others wait after the newest renewal of the Lease")
	flags.DurationVar(&f.renew, "leader-elect-renew-deadline", lease.DefaultRenewDeadline, "how long a renewal is tried before the controller stops leading")
	flags.DurationVar(&f.retry, "leader-elect-retry-period", lease.DefaultRetryPeriod, "time between tries to take or renew the Lease")
	flags.StringVar(&f.namespace, "leader-elect-resource-namespace", "",
		"namespace of the Lease: "+lease.DefaultNamespace+" or "+lease.SystemNamespace+"; that of --namespace, else "+lease.DefaultNamespace+", unless given")
	flags.BoolVar(&f.adopt, "adopt", false, "go on though the Lease says that another log runs the Jobs of this cluster")
	flags.BoolVar(&f.alone, controller.AloneFlag, false,
		"go on alone with a log that several controllers had, if the Lease shows that it has all; take it out once that is done")
}

// check returns a usage error for durations that do not fit together. It also notes whether --leader-elect was given.
func (f *electFlags) check(flags *pflag.FlagSet) error {
	f.given = flags.Changed("leader-elect")
	switch {
	case f.alone && !f.on:
		return cli.Usage("--%s does not go with --leader-elect=false: the Lease says whether the log has all", controller.AloneFlag)
	case f.alone && flags.Changed("manage") && flags.Lookup("manage").Value.String() == events.ModeObserve.String():
		return cli.Usage("--%s does not go with --manage=observe, which holds no Lease", controller.AloneFlag)
	case f.retry <= 0:
		return cli.Usage("--leader-elect-retry-period=%s: must be longer than nothing", f.retry)
	case f.renew <= f.retry+f.retry/5:
		return cli.Usage("--leader-elect-renew-deadline=%s: must be longer than 1.2 times --leader-elect-retry-period=%s", f.renew, f.retry)
	// A holder may notice the loss of its Lease as late as the renew deadline plus 1.2 retry periods after its newest
	// renewal. The Lease must not expire before that.
	case f.duration < f.renew+f.retry+f.retry/5:
		return cli.Usage("--leader-elect-lease-duration=%s: must be longer than --leader-elect-renew-deadline=%s by 1.2 times --leader-elect-retry-period=%s at least",
			f.duration, f.renew, f.retry)
	case f.duration < time.Second:
		return cli.Usage("--leader-elect-lease-duration=%s: must be at least 1s", f.duration)
	}
	return nil
}

// place returns the namespace of the Lease; namespace is the value of --namespace.
func (f *electFlags) place(namespace string) string {
	return cmp.Or(f.namespace, namespace, lease.DefaultNamespace)
}

// checkPlace returns a usage error if other controllers would not find the Lease in its namespace, or would not wait
// for as long as it lasts.
func (f *electFlags) checkPlace(namespace string) error {
	if err := lease.CheckPlace(f.place(namespace), namespace, f.duration); err != nil {
		return cli.Usage("--leader-elect-resource-namespace=%s: %v", f.namespace, err)
	}
	return nil
}

// config returns the Lease that the flags choose.
func (f *electFlags) config() controller.LeaseConfig {
	return controller.LeaseConfig{
		On: f.on, Duration: f.duration, RenewDeadline: f.renew, RetryPeriod: f.retry, Namespace: f.namespace, Adopt: f.adopt,
		Alone: f.alone,
	}
}
