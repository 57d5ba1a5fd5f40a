package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
)

// The defaults of kube-controller-manager (O-020).
const (
	DefaultDuration      = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// ErrLost is returned if the Lease was not renewed in time, so that another process may hold it now.
var ErrLost = errors.New("the Lease is lost: it could not be renewed in time, and another controller may work now")

// Config configures a Lease. All fields except Scope, Cron, MakeNamespace, Boot and Logger are required.
type Config struct {
	Client        kubernetes.Interface // its requests should time out well before RenewDeadline
	Namespace     string               // namespace of the Lease; see CheckPlace
	MakeNamespace bool                 // create a missing namespace
	Scope         string               // namespace whose Jobs the holder runs; empty for all
	Cron          bool                 // the holder runs CronJobs, too; the Lease tells this to users who trigger one
	Identity      string               // name of the holder in the Lease; no other process has it
	Duration      time.Duration        // how long other processes wait after the newest renewal
	RenewDeadline time.Duration        // how long renewals may fail before the Lease is lost; below Duration
	RetryPeriod   time.Duration        // time between tries to take or renew the Lease
	// Boot returns the time since the machine started, including suspensions. It is the second clock that decides when
	// the Lease is no longer held. Nil for the system's clock.
	Boot   func() time.Duration
	Logger *slog.Logger // nil for the default
}

func (c *Config) scope() string { return cmp.Or(c.Scope, Everywhere) }

// Bid says for which log this process wants the Lease, and what it does as the holder. All fields except Ready and
// Freed are required.
type Bid struct {
	// Log returns which log this process has locked, and its last durable record. It may be called from any goroutine
	// until Run returns.
	Log func() Log
	// Admit decides, by the Lease's content, whether this process may wait for the Lease and take it at all. An error
	// ends Run, and leaves the Lease unchanged.
	Admit func(Said) error
	// Ready returns an error if this process may not take the Lease now; the argument is its content, zero if it does
	// not exist. Then the Lease stays unchanged, and Ready is called again after RetryPeriod. It is called before each
	// write that takes the Lease, but not before renewals. May be nil.
	Ready func(Said) error
	// Freed receives a value when the holder is about to release the Lease; the sender has learned this from the
	// holder. Run then tries to take the Lease at once, and not only after RetryPeriod. May be nil.
	Freed <-chan struct{}
	// Lead does the work of the holder. Its context ends when the Lease is lost, with cause ErrLost or an
	// OutrankedError.
	Lead func(context.Context) error
}

// Lease is a Lease that this process holds or wants.
type Lease struct {
	config  Config
	lock    *lock
	elector *leaderelection.LeaderElector
	begun   sync.Once
	started chan struct{} // closed when the Lease is held for the first time
	elected chan struct{} // closed when client-go's elector holds the Lease and renews it
	lost    chan struct{} // closed when the Lease was held and is lost
	cause   error         // why the Lease is lost; set before lost is closed
}

// New returns a Lease that is not held yet, or an error if the configuration is invalid.
func New(c Config) (*Lease, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Boot == nil {
		c.Boot = sinceBoot
	}
	if err := CheckPlace(c.Namespace, c.Scope, c.Duration); err != nil {
		return nil, err
	}
	l := &Lease{
		config: c,
		lock: &lock{
			config: c, hold: hold{boot: c.Boot}, refused: make(chan error, 1), outranked: make(chan *OutrankedError, 1),
			deniedSince: map[string]time.Time{},
			beside:      newNeighbours(c),
		},
		started: make(chan struct{}), elected: make(chan struct{}), lost: make(chan struct{}),
	}
	var err error
	l.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l.lock, Name: UsualName,
		LeaseDuration: c.Duration, RenewDeadline: c.RenewDeadline, RetryPeriod: c.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(l.elected); l.begin() },
			OnStoppedLeading: func() {},
			OnNewLeader:      l.newLeader,
		},
		// ReleaseOnCancel is not set: after a failed renewal, client-go would first try to release the Lease, and lost
		// would be closed only after that.
	})
	if err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	return l, nil
}

func (l *Lease) newLeader(identity string) {
	if identity != l.config.Identity && identity != "" {
		l.config.Logger.Info("another controller holds the Lease: waiting", "lease", l.lock.Describe(), "holder", identity,
			"goodFor", l.config.Duration.String())
	}
}

// Run waits until the Lease is held, calls bid.Lead, and then releases the Lease. It returns Lead's error, joined with
// ErrLost or the OutrankedError if the Lease was lost. It returns Admit's error if that forbids the Lease, ErrDenied if
// the Lease may not be read or written, and nil if ctx ended before the Lease was held.
func (l *Lease) Run(ctx context.Context, bid Bid) error {
	l.lock.bid = bid
	ended, give := l.compete(ctx)
	defer give()
	select {
	case <-l.started:
	case err := <-l.lock.refused:
		give()
		if !errors.Is(err, ErrDenied) {
			l.release(ctx) // perhaps a write took the Lease, and only its answer was lost
		}
		return err
	case <-ctx.Done():
		give()
		l.release(ctx)
		return nil
	}
	leading, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	finished := make(chan struct{})
	go func() { // ends when this process no longer wants the Lease
		select {
		case <-ended:
			l.lose(ErrLost)
			lose(ErrLost)
		case above := <-l.lock.outranked:
			l.lose(above)
			lose(above)
		case <-finished:
		}
	}()
	err := bid.Lead(leading)
	close(finished)
	if l.isLost() {
		err = errors.Join(l.cause, err)
		if errors.Is(err, ErrLost) {
			return err
		}
	}
	give()
	l.release(ctx)
	return err
}

// compete starts to take the Lease, and to renew it once it is held. ended is closed when the Lease is lost, or after a
// call of give. give stops everything, and may be called more than once. The end of ctx does not stop renewals, because
// Lead may return long after it.
func (l *Lease) compete(ctx context.Context) (ended <-chan struct{}, give func()) {
	electing, end := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.FromSlogHandler(l.config.Logger.Handler())))
	done, taking := make(chan struct{}), make(chan struct{})
	go func() { // ends when the Lease is lost, or with electing
		defer close(done)
		l.elector.Run(electing)
	}()
	go func() { // ends when the Lease is held, or with electing
		defer close(taking)
		l.takeFreed(electing, end)
	}()
	return done, func() {
		end()
		<-done
		<-taking
	}
}

// release releases the Lease if this process holds it, so that the next process need not wait until it expires (O-022).
func (l *Lease) release(ctx context.Context) {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.RenewDeadline)
	defer cancel()
	if err := l.lock.release(bound); err != nil {
		l.config.Logger.Warn("the Lease is not given back: others wait until it expires", "lease", l.lock.Describe(), "error", err)
	}
}

// Name returns the name of the Lease, as NAMESPACE/NAME.
func (l *Lease) Name() string { return l.lock.Describe() }

// Holds reports whether this process certainly holds the Lease, so that it may act now.
func (l *Lease) Holds() bool { return l.lock.hold.holds() }

// Within returns a context for work that needs the Lease. It ends as soon as the Lease is no longer certainly held;
// each renewal prolongs it. The caller must call the cancel function.
func (l *Lease) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.lock.hold.within(ctx)
}

// Lost returns a channel that is closed when the Lease was held and is lost, or was given up because another Lease goes
// before it.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

func (l *Lease) begin() { l.begun.Do(func() { close(l.started) }) }

func (l *Lease) lose(cause error) {
	l.cause = cause
	close(l.lost)
}

func (l *Lease) isHeld() bool {
	select {
	case <-l.started:
		return true
	default:
		return false
	}
}

func (l *Lease) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// Read returns the Lease's current content.
func (l *Lease) Read(ctx context.Context) (Said, error) {
	object, err := l.lock.leases().Get(ctx, UsualName, getOptions)
	if apierrors.IsNotFound(err) {
		return Said{}, nil
	}
	if err != nil {
		return Said{}, fmt.Errorf("read Lease %s: %w", l.lock.Describe(), err)
	}
	return saidBy(object), nil
}
