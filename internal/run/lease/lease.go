package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"
)

// The numbers that operators know from kube-controller-manager (O-020).
const (
	DefaultDuration      = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// ErrLost: the Lease could not be renewed in time, so another may have it.
var ErrLost = errors.New("the Lease is lost: it could not be renewed in time, and another controller may work now")

// Config says which Lease, and how. All fields but Scope, Cron, MakeNamespace, Boot and Logger are required.
type Config struct {
	Client        kubernetes.Interface // its requests should time out well before RenewDeadline
	Namespace     string               // see CheckPlace
	MakeNamespace bool                 // when there is none
	Scope         string               // the namespace whose Jobs are run; empty for all
	Cron          bool                 // CronJobs are run, too; the Lease says so to those who trigger one
	Identity      string               // of this process; no other's
	Duration      time.Duration        // how long others wait after the newest renewal
	RenewDeadline time.Duration        // how long a renewal is tried; shorter than Duration
	RetryPeriod   time.Duration        // between tries
	// Boot is the time since the machine was started, with the time in which it was suspended: what is held ends by it,
	// too. Nil for the system's clock.
	Boot   func() time.Duration
	Logger *slog.Logger // nil for the default
}

func (c *Config) scope() string { return cmp.Or(c.Scope, Everywhere) }

// Bid is with what the Lease is wanted, and what for. All fields but Ready are required.
type Bid struct {
	// Log is which log this process has locked, and how far it is durable now. Any goroutine may call it until Run
	// returns.
	Log func() Log
	// Admit says whether to wait for the Lease, or to take it, by what it says now of who holds it or has held it. Its
	// error ends Run, and the Lease stays as it is.
	Admit func(Said) error
	// Ready says why this process may not take the Lease now, by what it says of its last holder, or a Lease that is
	// not there: it stays as it is, and Ready is asked again after RetryPeriod. It is asked right before each write that
	// would take it, and not before those that renew it. Nil for one that always may.
	Ready func(Said) error
	// Lead does what the Lease is held for. Its context ends when the Lease is lost, with the cause ErrLost, or an
	// OutrankedError.
	Lead func(context.Context) error
}

// Lease is a Lease that this process holds, or wants.
type Lease struct {
	config  Config
	lock    *lock
	elector *leaderelection.LeaderElector
	started chan struct{} // closed when it is held
	lost    chan struct{} // closed when it was held and is lost
	cause   error         // why it is lost; set before that
}

// New returns a Lease that is not held, or says what is wrong with the configuration.
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
		started: make(chan struct{}), lost: make(chan struct{}),
	}
	var err error
	l.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l.lock, Name: UsualName,
		LeaseDuration: c.Duration, RenewDeadline: c.RenewDeadline, RetryPeriod: c.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(l.started) },
			OnStoppedLeading: func() {},
			OnNewLeader:      l.newLeader,
		},
		// Not ReleaseOnCancel: after a renewal that failed it would hold up the news of the loss.
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

// Run waits until the Lease is held and then lets the bid lead. When that has returned, the Lease is given back. Run
// returns the error of Lead, joined with ErrLost when the Lease was lost, or with the OutrankedError; that of Admit;
// ErrDenied when the Lease may not be read or written; and nil when ctx ended before it was held.
func (l *Lease) Run(ctx context.Context, bid Bid) error {
	l.lock.bid = bid
	// The Lease is renewed until Lead has returned, which may be a while after ctx has ended.
	electing, give := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.FromSlogHandler(l.config.Logger.Handler())))
	defer give()
	ended := make(chan struct{})
	go func() { // ends when the Lease is lost, or with electing
		defer close(ended)
		l.elector.Run(electing)
	}()
	select {
	case <-l.started:
	case err := <-l.lock.refused:
		give()
		<-ended
		if !errors.Is(err, ErrDenied) {
			l.release(ctx) // an answer that was lost may have made it ours
		}
		return err
	case <-ctx.Done():
		give()
		<-ended
		l.release(ctx)
		return nil
	}
	leading, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	finished := make(chan struct{})
	go func() { // ends with the election
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
	<-ended
	l.release(ctx)
	return err
}

// release gives the Lease back, if it is held, so that the next process need not wait for it to expire (O-022).
func (l *Lease) release(ctx context.Context) {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.RenewDeadline)
	defer cancel()
	if err := l.lock.release(bound); err != nil {
		l.config.Logger.Warn("the Lease is not given back: others wait until it expires", "lease", l.lock.Describe(), "error", err)
	}
}

// Name is NAMESPACE/NAME.
func (l *Lease) Name() string { return l.lock.Describe() }

// Holds reports whether the Lease is held for certain, so that something may be done on its behalf now.
func (l *Lease) Holds() bool { return l.lock.hold.holds() }

// Within is a context for what is done on behalf of the Lease: it ends as soon as the Lease is no longer held for
// certain, which each renewal puts off. The cancel function must be called.
func (l *Lease) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.lock.hold.within(ctx)
}

// Lost is closed when the Lease was held and is lost, or is given up because of one that ranks above it.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

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

// Read looks at what the Lease says now.
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
