package admission

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/budget"
	"github.com/jobledger/jobledger/projector"
)

// excess says by how much a namespace is over its log budget (bytes of log per hour). Each level adds a restriction.
type excess uint8

const (
	within       excess = iota
	withoutTexts        // pod templates are recorded without their text
	atPace              // also at most one version per object and second is recorded
	flooded             // also at most one version per object and minute is recorded
)

// excess returns the level of a namespace: withoutTexts above one budget of log bytes, atPace above 1.25 budgets,
// flooded near two budgets. For the empty namespace, nodes and namespaces are measured together.
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

// every returns the minimum time between two recorded versions of one object at level x.
func (g *Gate) every(x excess) time.Duration {
	if x == flooded {
		return g.floodPace
	}
	return paceEvery
}

// Cut removes from the records of an observation what the log budget of its namespace does not allow, and limits how
// soon the object's next version may be recorded. drafts are these records, without sequence and time.
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
			// The record is a spec, which comes before its Job's first record: it counts for the Job's namespace
			e.Namespace = namespace
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
		o.passed = 0 // the record counts the dropped versions; a newer version still waits
	}
}

// recorded notes that a version of the object uid was recorded. The object's next version may be recorded at time next.
func (g *Gate) recorded(uid types.UID, namespace string, next events.Time) {
	x := g.objects[uid]
	if x == nil {
		x = &paced{namespace: namespace}
		g.objects[uid] = x
	}
	x.next, x.passed, x.first = next, 0, false
	g.dues.Set(uid, next)
}
