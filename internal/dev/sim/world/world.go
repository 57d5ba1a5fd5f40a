package world

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/clock"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/users"
)

// Start is the time that every world's clock shows at the beginning.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Config configures a World. With the zero value pods take no time and never fail, and no user acts.
type Config struct {
	Seed uint64
	// Kubelet configures the kubelets. New sets its Server and Rand.
	Kubelet kubelet.Config
	// UserChance is the probability that a step is an action of a user.
	UserChance float64
	// UsersOff lists actions that no user takes.
	UsersOff []users.Deed
	// NodeLossChance is the probability that a step removes a node; the last one stays.
	NodeLossChance float64
}

// World is a simulated cluster. Callers may use its parts (the fields) directly.
type World struct {
	Clock      *clock.Clock
	Server     *apiserver.Server
	Kubelet    *kubelet.Kubelet
	GC         *apiserver.GarbageCollector
	PodGC      *apiserver.PodGC
	Namespaces *apiserver.NamespaceController
	Users      *users.Users

	cfg  Config
	rand *rand.Rand // random numbers for Step
}

// Numbers of the random streams: each part of the World has random numbers of its own.
const (
	streamServer = iota + 1
	streamKubelet
	streamUsers
	streamWorld
	firstFreeStream
)

// Rand returns a source of random numbers of the seed, for a caller outside of the World. The same n gives the same
// numbers. They are independent of those of the World's parts.
func Rand(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, firstFreeStream+n)) }

// New returns the world of a seed.
func New(cfg Config) *World {
	own := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(cfg.Seed, stream)) }
	w := &World{Clock: clock.New(Start), cfg: cfg, rand: own(streamWorld)}
	w.Server = apiserver.New(apiserver.Config{Clock: w.Clock, Rand: own(streamServer)})
	cfg.Kubelet.Server, cfg.Kubelet.Rand = w.Server, own(streamKubelet)
	w.Kubelet = kubelet.New(cfg.Kubelet)
	w.GC, w.PodGC, w.Namespaces = w.Server.GarbageCollector(), w.Server.PodGC(), w.Server.NamespaceController()
	w.Users = users.New(users.Config{Server: w.Server, Rand: own(streamUsers), Off: cfg.UsersOff})
	return w
}

// Step makes one event, chosen by the seed: an action of a user, the loss of a node, a step of a garbage collector or
// of the namespace controller, or the next due item, to which the clock advances. It returns a description, or "" if
// nothing is left to happen.
func (w *World) Step() string {
	w.Kubelet.Sync()
	draw := w.rand.Float64()
	if draw < w.cfg.UserChance {
		if what := w.Users.Step(); what != "" {
			return what
		}
	} else if draw < w.cfg.UserChance+w.cfg.NodeLossChance {
		if what := w.loseNode(); what != "" {
			return what
		}
	}
	parts := w.parts()
	for _, i := range w.rand.Perm(len(parts)) {
		if what := parts[i](); what != "" {
			return what
		}
	}
	return ""
}

// parts returns functions that each make one step: of a garbage collector, of the namespace controller, or of the
// clock.
func (w *World) parts() []func() string {
	named := func(name string, step func() bool) func() string {
		return func() string {
			if !step() {
				return ""
			}
			return name
		}
	}
	return []func() string{
		named("garbage collector", w.GC.Step),
		named("pod garbage collector", w.PodGC.Step),
		named("namespace controller", w.Namespaces.Step),
		w.Tick,
	}
}

// Tick advances the clock to the next due item and runs it. It returns a description, or "" if nothing is due.
func (w *World) Tick() string {
	w.Kubelet.Sync()
	next := w.Clock.Next()
	if next == nil {
		return ""
	}
	w.Clock.Step()
	w.Kubelet.Sync()
	return next.Name
}

// Settle does everything that needs no time: the garbage collectors and the namespace controller run until they have
// nothing to do. It reports whether anything happened.
func (w *World) Settle() bool {
	happened := false
	for w.GC.Step() || w.PodGC.Step() || w.Namespaces.Step() {
		happened = true
	}
	w.Kubelet.Sync()
	return happened
}

// Quiet reports whether nothing more will happen by itself. It does not look at the controller under test.
func (w *World) Quiet() bool {
	return !w.Settle() && w.Clock.Next() == nil
}

// loseNode removes a random node, as if it had died, and returns a description; empty if there is only one node,
// which stays.
func (w *World) loseNode() string {
	nodes := w.Kubelet.Nodes()
	if len(nodes) < 2 {
		return ""
	}
	node := nodes[w.rand.IntN(len(nodes))]
	w.Kubelet.LoseNode(node)
	w.PodGC.LoseNode(node)
	return fmt.Sprintf("lose %s", node)
}
