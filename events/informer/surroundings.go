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
)

const (
	nodeMost   = 6                // changes of one node that are told within nodeSpan
	nodeSpan   = 10 * time.Minute // a node that flaps more often is told of later, with the number of changes between
	nodeLook   = time.Minute      // between looks for nodes whose turn has come
	rightsWait = time.Minute      // after there was no right to list or watch
)

// SurroundingsConfig says what to watch around the Jobs, and whom to tell. Client and Sink are required.
type SurroundingsConfig struct {
	Client    kubernetes.Interface
	Namespace string // the only one that is watched; empty for all
	Off       bool   // nothing is watched; the sink is told that
	Sink      Sink
	Messages  *Messages // told what the annotations of namespaces say; may be nil
	// Nodes and Namespaces are what the log has last: nodes out of order, namespaces being deleted. What of them went
	// while nobody watched is told once the first list has shown it.
	Nodes      []*events.NodeSeen
	Namespaces []*events.NamespaceSeen
	Logger     *slog.Logger // nil for the default
}

// Surroundings watches nodes and namespaces, for people: nothing is decided by what it tells, and nothing waits for it.
// Of a node it tells what is out of order, and when that ends; a heartbeat changes nothing of that. Of a namespace it
// tells that it goes. Where there is no right to watch it says so once, and asks again each minute. Run once; its
// methods may be called from any goroutine.
type Surroundings struct {
	config SurroundingsConfig
	now    func() time.Time

	mu         sync.Mutex
	nodes      map[types.UID]*nodeTold
	names      map[string]types.UID                // of nodes
	namespaces map[types.UID]*events.NamespaceSeen // being deleted
	missing    map[types.UID]events.Facts          // what the log has and no list has shown yet: that it is gone
	watched    events.ClusterWatched
	queue      []events.Observation
	more       chan struct{} // holds a token when the queue has something
}

// nodeTold is what was told of a node.
type nodeTold struct {
	last   *events.NodeSeen // told; of one that is in order, perhaps not
	now    *events.NodeSeen // what is to be told when its turn comes; nil for nothing
	at     []time.Time      // when it was told of last
	passed uint64           // changes that were not told
}

// NewSurroundings returns one that does nothing until Run.
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
		s.config.Messages.settled()
		s.config.Sink.Observe(events.Observation{Facts: &events.ClusterWatched{Nodes: events.WatchingOff, Namespaces: events.WatchingOff}})
		return
	}
	var group sync.WaitGroup
	group.Go(func() { s.keep(ctx, 0) }) // ends with ctx
	group.Go(func() { s.keep(ctx, 1) }) // ends with ctx
	group.Go(func() { s.deliver(ctx) }) // ends with ctx
	group.Wait()
}

// Relist tells all again: what was told while the log had no room is not in it.
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

// deliver hands what there is to the sink.
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

// keep watches one of the two resources, as long as there is a right to.
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

// denied asks for one object, to see whether there is a right now.
func (s *Surroundings) denied(ctx context.Context, which int) bool {
	_, err := s.access(which).list(ctx, metav1.ListOptions{Limit: 1})
	return err != nil
}

// state tells whether a resource is watched.
func (s *Surroundings) state(which int, is events.Watching) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.watched
	if which == 0 {
		s.watched.Nodes = is
	} else {
		s.watched.Namespaces = is
		s.config.Messages.settled()
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

// watch lists and watches a resource until ctx ends, or until there is no right to: then it returns what the server
// says.
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
	_ = i.SetTransform(stripSurrounding) // it has not started
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

// failed hears of a list or a watch that failed, and will be tried again.
func (s *Surroundings) failed(which int, err error) {
	s.config.Logger.Debug("cannot list or watch; will try again", "error", err)
	if which == 1 && apierrors.IsNotFound(err) {
		s.config.Messages.settled() // a server without namespaces
	}
}

// begin notes what was there, of which a list is to show whether it is still.
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

// listed tells what went while nobody watched, and that there is a watch.
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

// seen takes an object that a list or the watch shows.
func (s *Surroundings) seen(o any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := o.(type) {
	case *corev1.Node:
		s.nodeSeenLocked(nodeSeen(o))
	case *corev1.Namespace:
		s.config.Messages.set(o.Name, o.Annotations)
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
	if before := s.names[f.Name]; before != f.UID && s.nodes[before] != nil { // the watch missed the end of the one before
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

// tellLocked tells how a node is, unless that was told too often.
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

// look tells of nodes whose turn has come.
func (s *Surroundings) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.nodes {
		if n.now != nil {
			s.tellLocked(n)
		}
	}
}

// gone takes an object that was deleted.
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
		s.config.Messages.set(o.Name, nil)
		s.putLocked(f, 0)
	}
}
