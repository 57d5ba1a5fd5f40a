package admission

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/budget"
	"github.com/jobledger/jobledger/projector"
)

// excess says how far a namespace is over its budget.
type excess uint8

const (
	within       excess = iota
	withoutTexts        // no texts of pod templates
	atPace              // also one version per object and second
	flooded             // one per minute
)

// excess returns what may be recorded of a namespace. Texts are dropped a quarter of the budget before versions are
// held back.
func (g *Gate) excess(namespace string, now events.Time) excess {
	most := g.world.Settings.NamespaceBudget
	if most == 0 {
		return within
	}
	share := g.world.Share(namespace, now)
	if namespace == "" {
		share = g.cluster.Left(now, most)
	}
	switch {
	case budget.Full(share, most) && g.floodPace > 0:
		return flooded
	case share > most+most/4:
		return atPace
	case share > most:
		return withoutTexts
	}
	return within
}

// every returns the minimum time between two recorded versions of an object.
func (g *Gate) every(x excess) time.Duration {
	if x == flooded {
		return g.floodPace
	}
	return paceEvery
}

// Cut cuts the drafts of an admitted observation to its namespace's budget.
func (g *Gate) Cut(now events.Time, o *events.Observation, drafts []projector.Draft) {
	object, namespace := o.Object(), o.Namespace()
	if object.Gone {
		object.Version = math.MaxUint64
	}
	passed := g.overtaken(object.UID, object.Version)
	if len(drafts) == 0 || object.UID == "" {
		return
	}
	x := g.excess(namespace, now)
	for i := range drafts {
		e := &drafts[i].Evidence
		if x >= withoutTexts {
			e.Template = nil
		}
		if g.world.Settings.NamespaceBudget > 0 && e.Namespace == "" && g.world.RefOf(drafts[i].Stream).Namespace == "" {
			e.Namespace = namespace // a spec comes before its Job, and counts for the same namespace
		}
		if namespace == "" && drafts[i].Stream == events.Controller {
			rec := events.Record{Facts: drafts[i].Facts, Evidence: *e}
			g.cluster.Add(events.Weight(&rec), now, g.world.Settings.NamespaceBudget)
		}
	}
	if passed > 0 {
		drafts[len(drafts)-1].Evidence.PassedOver += passed
	}
	if x >= atPace {
		g.recorded(object.UID, namespace, now.Add(g.every(x)))
	} else if o := g.objects[object.UID]; o == nil {
		return
	} else if passed > 0 && o.held == nil {
		g.forget(object.UID)
	} else if passed > 0 {
		o.passed = 0 // counted; the newer held-back version follows
	}
}

// recorded starts the wait for an object's next version.
func (g *Gate) recorded(uid types.UID, namespace string, next events.Time) {
	x := g.objects[uid]
	if x == nil {
		x = &paced{namespace: namespace}
		g.objects[uid] = x
	}
	x.next, x.passed, x.first = next, 0, false
	g.dues.Set(uid, next)
}
