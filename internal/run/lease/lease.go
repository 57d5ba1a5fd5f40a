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

// ErrLost is returned if the Lease was not renewed in time, so that another process may hold it.
var ErrLost = errors.New("the Lease is lost: it could not be renewed in time, and another controller may work now")

// Config configures a Lease. All fields but Scope, Cron, MakeNamespace, Boot and Logger are required.
type Config struct {
	Client        kubernetes.Interface // should time out well before RenewDeadline
	Namespace     string               // see CheckPlace
	MakeNamespace bool                 // create a missing namespace
	Scope         string               // namespace of the Jobs; empty for all
	Cron          bool                 // CronJobs are run too; the Lease says so to users who trigger one
	Identity      string               // unique to this process
	Duration      time.Duration        // how long others wait after the newest renewal
	RenewDeadline time.Duration        // how long to try a renewal; shorter than Duration
	RetryPeriod   time.Duration        // between tries
	// Boot returns the time since the machine started, including suspensions; it also bounds the hold. Nil for the
	// system's clock.
	Boot   func() time.Duration
	Logger *slog.Logger // nil for the default
}

func (c *Config) scope() string { return cmp.Or(c.Scope, Everywhere) }

// Bid says for which log and work the Lease is wanted. All fields but Ready and Freed are required.
type Bid struct {
	// Log returns which log this process has locked, and how far it is durable. It may be called from any goroutine
	// until Run returns.
	Log func() Log
	// Admit decides, by the Lease's current content, whether to wait for or take the Lease. An error ends Run and leaves
	// the Lease unchanged.
	Admit func(Said) error
	// Ready returns an error if this process may not take the Lease now, given its content (zero if it does not exist).
	// The Lease then stays unchanged, and Ready is called again after RetryPeriod. It is called before each write that
	// takes the Lease, but not before renewals. May be nil.
	Ready func(Said) error
	// Freed receives a value when the holder is about to release the Lease, as known from elsewhere. The Lease is then
	// asked for at once, not after RetryPeriod. Nil for no such news.
	Freed <-chan struct{}
	// Lead does the work of the holder. Its context ends when the Lease is lost, with cause ErrLost or an OutrankedError.
	Lead func(context.Context) error
}

// Lease is a Lease that this process holds or wants.
type Lease struct {
	config  Config
	lock    *lock
	elector *leaderelection.LeaderElector
	begun   sync.Once
	started chan struct{} // closed once it is held
	elected chan struct{} // closed once the elector holds it and renews it
	lost    chan struct{} // closed once it was held and is lost
	cause   error         // why it is lost; set before lost is closed
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
		// Not ReleaseOnCancel: after a failed renewal it would delay the news of the loss.
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
// ErrLost or the OutrankedError if the Lease was lost; Admit's error; ErrDenied if the Lease may not be read or
// written; or nil if ctx ended before it was held.
func (l *Lease) Run(ctx context.Context, bid Bid) error {
	l.lock.bid = bid
	ended, give := l.compete(ctx)
	defer give()
	select {
	case <-l.started:
	case err := <-l.lock.refused:
		give()
		if !errors.Is(err, ErrDenied) {
			l.release(ctx) // a lost answer may have made it ours
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
	l.release(ctx)
	return err
}

// compete begins to ask for the Lease, and to renew it once it is held. ended is closed when the Lease is lost, or after
// give. give ends all of it; it may be called again. The Lease is renewed until Lead has returned, perhaps well after ctx
// has ended.
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

// release releases the Lease if it is held, so that the next process need not wait for its expiry (O-022).
func (l *Lease) release(ctx context.Context) {
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.RenewDeadline)
	defer cancel()
	if err := l.lock.release(bound); err != nil {
		l.config.Logger.Warn("the Lease is not given back: others wait until it expires", "lease", l.lock.Describe(), "error", err)
	}
}

// Name returns NAMESPACE/NAME.
func (l *Lease) Name() string { return l.lock.Describe() }

// Holds reports whether the Lease is certainly held, so that work on its behalf is allowed now.
func (l *Lease) Holds() bool { return l.lock.hold.holds() }

// Within returns a context for work on behalf of the Lease. It ends as soon as the Lease is no longer certainly held;
// each renewal extends it. The caller must call the cancel function.
func (l *Lease) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.lock.hold.within(ctx)
}

// Lost returns a channel that is closed when the Lease is lost after it was held, or given up for a higher-ranking
// one.
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
