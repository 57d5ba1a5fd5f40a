package informer

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/observation"
)

const (
	nodeMost = 6 // largest number of reports about one node within nodeSpan
	// After nodeMost reports about a node within this time, its further changes are only counted until one may be
	// reported
	nodeSpan   = 10 * time.Minute
	nodeLook   = time.Minute // interval of the checks for nodes whose report is late
	rightsWait = time.Minute // wait after a refused list or watch
)

// SurroundingsConfig configures Surroundings. Client and Sink are required.
type SurroundingsConfig struct {
	Client    kubernetes.Interface
	Namespace string // the only namespace to watch; empty for all
	Off       bool   // watch nothing, and tell the sink so
	Sink      Sink
	Messages  *observation.Messages // gets the annotations of namespaces; may be nil
	// Nodes and Namespaces are the last known states in the log: unhealthy nodes, and namespaces being deleted. If the
	// first list lacks one, it is reported as gone.
	Nodes      []*events.NodeSeen
	Namespaces []*events.NamespaceSeen
	Logger     *slog.Logger // nil for the default
}

// Surroundings watches nodes and namespaces. Its observations are for people: no decision reads them or waits for them.
// It reports when a node becomes unhealthy or recovers, not its heartbeats, and when a namespace is deleted. Without
// the right to watch it reports that once, and asks again each minute. Run may be called once; any goroutine may call
// the other methods.
type Surroundings struct {
	config SurroundingsConfig
	now    func() time.Time

	mu         sync.Mutex
	nodes      map[types.UID]*nodeTold
	names      map[string]types.UID                // UID of each known node, by the node's name
	namespaces map[types.UID]*events.NamespaceSeen // those that are being deleted
	// Objects in the log that no list has shown yet, with the facts to report if the first list lacks them
	missing map[types.UID]events.Facts
	watched events.ClusterWatched
	queue   []events.Observation
	more    chan struct{} // holds a token when the queue is not empty
}

// nodeTold is what was reported of a node.
type nodeTold struct {
	last   *events.NodeSeen // last reported state, or the first state of a node that was healthy then
	now    *events.NodeSeen // state to report as soon as nodeSpan allows; nil for none
	at     []time.Time      // times of the last reports
	passed uint64           // number of changes that were not reported
}

// NewSurroundings returns Surroundings that do nothing until Run.
func NewSurroundings(c SurroundingsConfig) *Surroundings {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &Surroundings{
		config: c, now: time.Now, nodes: map[types.UID]*nodeTold{}, namespaces: map[types.UID]*events.NamespaceSeen{},
		names: map[string]types.UID{}, missing: map[types.UID]events.Facts{}, more: make(chan struct{}, 1),
	}
	for _, n := range c.Nodes {
		s.nodes[n.UID], s.names[n.Name] = &nodeTold{last: n}, n.UID
	}
	for _, n := range c.Namespaces {
		s.namespaces[n.UID] = n
	}
	return s
}

// Run watches until ctx ends.
func (s *Surroundings) Run(ctx context.Context) {
	if s.config.Off {
		s.config.Messages.Settled()
		s.config.Sink.Observe(events.Observation{Facts: &events.ClusterWatched{Nodes: events.WatchingOff, Namespaces: events.WatchingOff}})
		return
	}
	var group sync.WaitGroup
	group.Go(func() { s.keep(ctx, 0) }) // ends with ctx
	group.Go(func() { s.keep(ctx, 1) }) // ends with ctx
	group.Go(func() { s.deliver(ctx) }) // ends with ctx
	group.Wait()
}

// Relist reports everything again, because the log lacks the observations made while it had no room.
func (s *Surroundings) Relist() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		n.at = nil
		if n.now == nil && n.last != nil && !n.last.InOrder() {
			n.now = n.last
		}
		if n.now != nil {
			s.tellLocked(n)
		}
	}
	for _, n := range s.namespaces {
		s.putLocked(n, 0)
	}
	if s.watched != (events.ClusterWatched{}) {
		w := s.watched
		s.putLocked(&w, 0)
	}
}

// deliver passes the queue to the sink until ctx ends.
func (s *Surroundings) deliver(ctx context.Context) {
	tick := time.NewTicker(nodeLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look()
		case <-s.more:
		}
		s.mu.Lock()
		batch := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, o := range batch {
			s.config.Sink.Observe(o)
		}
	}
}

func (s *Surroundings) putLocked(f events.Facts, passed uint64) {
	s.queue = append(s.queue, events.Observation{Facts: f, Evidence: events.Evidence{PassedOver: passed}})
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// keep watches one of the two resources as long as it has the right to. which is 0 for nodes, 1 for namespaces.
func (s *Surroundings) keep(ctx context.Context, which int) {
	for ctx.Err() == nil {
		if denied := s.watch(ctx, which); denied != nil && ctx.Err() == nil {
			s.state(which, events.WatchingDenied)
			s.config.Logger.Warn("nodes or namespaces are not watched: there is no right to (deploy/watch-cluster gives it, --watch-cluster=false asks for nothing)",
				"error", denied)
			for ctx.Err() == nil && s.denied(ctx, which) {
				wait(ctx, rightsWait)
			}
		}
	}
}

// denied reports whether a list of one object still fails.
func (s *Surroundings) denied(ctx context.Context, which int) bool {
	_, err := s.access(which).list(ctx, metav1.ListOptions{Limit: 1})
	return err != nil
}

// state reports whether a resource is watched, if that has changed. which is 0 for nodes, 1 for namespaces.
func (s *Surroundings) state(which int, is events.Watching) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.watched
	if which == 0 {
		s.watched.Nodes = is
	} else {
		s.watched.Namespaces = is
		s.config.Messages.Settled()
	}
	if w := s.watched; w != before && w.Nodes != 0 && w.Namespaces != 0 {
		s.putLocked(&w, 0)
	}
}

func (s *Surroundings) access(which int) access {
	if which == 0 {
		nodes := s.config.Client.CoreV1().Nodes()
		return accessTo(&corev1.Node{}, nodes.List, nodes.Watch)
	}
	namespaces := s.config.Client.CoreV1().Namespaces()
	return accessTo(&corev1.Namespace{}, namespaces.List, namespaces.Watch)
}

// watch lists and watches a resource until ctx ends or the server denies it. In that case it returns the server's
// error.
func (s *Surroundings) watch(ctx context.Context, which int) (denied error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := s.access(which)
	only := func(o *metav1.ListOptions) {
		if which == 1 && s.config.Namespace != "" {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", s.config.Namespace).String()
		}
	}
	source := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			only(&o)
			return a.list(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			only(&o)
			return a.watch(ctx, o)
		},
	}, s.config.Client)
	i := cache.NewSharedIndexInformer(source, a.example, 0, cache.Indexers{})
	s.begin(which)
	var mu sync.Mutex
	_ = i.SetTransform(stripSurrounding) // the informer has not started, so there is no error
	_ = i.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		s.failed(which, err)
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			mu.Lock()
			denied = err
			mu.Unlock()
			cancel()
		}
	})
	handle, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    s.seen,
		UpdateFunc: func(_, o any) { s.seen(o) },
		DeleteFunc: s.gone,
	})
	if err != nil {
		return err
	}
	go func() { // ends with ctx
		if cache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
			s.listed(which)
		}
	}()
	i.RunWithContext(ctx)
	mu.Lock()
	defer mu.Unlock()
	return denied
}

// failed handles a failed list or watch, which will be retried.
func (s *Surroundings) failed(which int, err error) {
	s.config.Logger.Debug("cannot list or watch; will try again", "error", err)
	if which == 1 && apierrors.IsNotFound(err) {
		s.config.Messages.Settled() // the server has no namespaces, so Messages must not wait for them
	}
}

// begin marks the known objects as missing, until a list shows them.
func (s *Surroundings) begin(which int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if which == 0 {
		for uid, n := range s.nodes {
			s.missing[uid] = &events.NodeGone{Name: n.last.Name, UID: uid, Missed: true}
		}
		return
	}
	for uid, n := range s.namespaces {
		s.missing[uid] = &events.NamespaceSeen{Name: n.Name, UID: uid, Deleted: n.Deleted, Gone: true, Missed: true}
	}
}

// listed reports, at the end of the first list, that the objects it did not show are gone, and that the resource is
// watched. which is 0 for nodes, 1 for namespaces.
func (s *Surroundings) listed(which int) {
	s.mu.Lock()
	uids := make([]types.UID, 0, len(s.missing))
	for uid := range s.missing {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	for _, uid := range uids {
		if _, node := s.missing[uid].(*events.NodeGone); node == (which == 0) {
			s.putLocked(s.missing[uid], 0)
			delete(s.missing, uid)
			delete(s.nodes, uid)
			delete(s.namespaces, uid)
		}
	}
	s.mu.Unlock()
	s.state(which, events.WatchingOn)
}

// seen takes an object from a list or the watch.
func (s *Surroundings) seen(o any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := o.(type) {
	case *corev1.Node:
		s.nodeSeenLocked(nodeSeen(o))
	case *corev1.Namespace:
		s.config.Messages.Set(o.Name, o.Annotations)
		delete(s.missing, o.UID)
		if o.DeletionTimestamp == nil || s.namespaces[o.UID] != nil {
			return
		}
		f := &events.NamespaceSeen{Name: o.Name, UID: o.UID, Deleted: events.At(o.DeletionTimestamp.Time)}
		s.namespaces[o.UID] = f
		s.putLocked(f, 0)
	}
}

func (s *Surroundings) nodeSeenLocked(f *events.NodeSeen) {
	delete(s.missing, f.UID)
	// If another node with this name is known, the watch missed its deletion: report it now
	if before := s.names[f.Name]; before != f.UID && s.nodes[before] != nil {
		s.putLocked(&events.NodeGone{Name: f.Name, UID: before, Replaced: true}, 0)
		delete(s.nodes, before)
		delete(s.missing, before)
	}
	s.names[f.Name] = f.UID
	n := s.nodes[f.UID]
	switch {
	case n == nil:
		n = &nodeTold{last: f}
		s.nodes[f.UID] = n
		if f.InOrder() {
			return
		}
		n.now = f
	case n.now != nil:
		if !n.now.Equal(f) {
			n.passed++
			n.now = f
		}
		if n.last.Equal(f) {
			n.now = nil
		}
	case !n.last.Equal(f):
		n.now = f
	}
	if n.now != nil {
		s.tellLocked(n)
	}
}

// tellLocked reports the state n.now of a node, unless the node has had nodeMost reports within nodeSpan. In that case
// look reports it later.
func (s *Surroundings) tellLocked(n *nodeTold) {
	now := s.now()
	if len(n.at) >= nodeMost {
		if now.Sub(n.at[len(n.at)-nodeMost]) < nodeSpan {
			return
		}
		n.at = n.at[len(n.at)-nodeMost+1:]
	}
	n.at = append(n.at, now)
	s.putLocked(n.now, n.passed)
	n.last, n.now, n.passed = n.now, nil, 0
}

// look reports the waiting states of nodes that changed too often before.
func (s *Surroundings) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.now != nil {
			s.tellLocked(n)
		}
	}
}

// gone takes a deleted object.
func (s *Surroundings) gone(o any) {
	missed := false
	if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o, missed = last.Obj, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := o.(type) {
	case *corev1.Node:
		if s.nodes[o.UID] != nil {
			delete(s.nodes, o.UID)
			delete(s.names, o.Name)
			s.putLocked(&events.NodeGone{Name: o.Name, UID: o.UID, Missed: missed}, 0)
		}
	case *corev1.Namespace:
		f := &events.NamespaceSeen{Name: o.Name, UID: o.UID, Gone: true, Missed: missed}
		if o.DeletionTimestamp != nil {
			f.Deleted = events.At(o.DeletionTimestamp.Time)
		}
		delete(s.namespaces, o.UID)
		s.config.Messages.Set(o.Name, nil)
		s.putLocked(f, 0)
	}
}
