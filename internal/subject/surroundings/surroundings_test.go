package surroundings_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/surroundings"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

func node(uid string, change func(*events.NodeSeen)) *events.NodeSeen {
	f := &events.NodeSeen{Name: "node-" + uid, UID: types.UID(uid), Ready: events.NodeReady}
	if change != nil {
		change(f)
	}
	return f
}

func cordoned(f *events.NodeSeen) { f.Cordoned = true }

func namespace(name, uid string, gone bool) *events.NamespaceSeen {
	return &events.NamespaceSeen{Name: name, UID: types.UID(uid), Deleted: 5, Gone: gone}
}

// known is what is known after records of these facts.
func known(all ...events.Facts) *surroundings.Surroundings {
	s := surroundings.New()
	for _, f := range all {
		s.Apply(&events.Record{Facts: f})
	}
	return &s
}

// TestWhatIsNews: an observation is recorded if it is another one than was recorded last. A node that is in order is
// news only if it was out of order, and a namespace that is being deleted only once, unless another one has its name.
func TestWhatIsNews(t *testing.T) {
	watched := &events.ClusterWatched{Nodes: events.WatchingOn, Namespaces: events.WatchingOn}
	out := node("1", cordoned)
	tainted := func(f *events.NodeSeen) { f.Taints = []string{"a/b"} }
	for _, row := range []struct {
		name   string
		before []events.Facts
		seen   events.Facts
		kind   events.Kind
		news   bool
	}{
		{"a node in order", nil, node("1", nil), events.KindNodeChanged, false},
		{"a node out of order", nil, out, events.KindNodeChanged, true},
		{"the same again", []events.Facts{out}, node("1", cordoned), events.KindNodeChanged, false},
		{"out of order in another way", []events.Facts{out}, node("1", tainted), events.KindNodeChanged, true},
		{"in order again", []events.Facts{out}, node("1", nil), events.KindNodeChanged, true},
		{"in order for long", []events.Facts{out, node("1", nil)}, node("1", nil), events.KindNodeChanged, false},
		{"another node", []events.Facts{out}, node("2", cordoned), events.KindNodeChanged, true},
		{"a node that is gone", []events.Facts{out}, &events.NodeGone{UID: "1"}, events.KindNodeGone, true},
		{"it is back", []events.Facts{out, &events.NodeGone{UID: "1"}}, out, events.KindNodeChanged, true},
		{"a namespace under deletion", nil, namespace("a", "x", false), events.KindNamespaceChanged, true},
		{"the same namespace again", []events.Facts{namespace("a", "x", false)}, namespace("a", "x", false), events.KindNamespaceChanged, false},
		{"another one of its name", []events.Facts{namespace("a", "x", false)}, namespace("a", "y", false), events.KindNamespaceChanged, true},
		{"it is gone", []events.Facts{namespace("a", "x", false)}, namespace("a", "x", true), events.KindNamespaceChanged, true},
		{"its name is used again", []events.Facts{namespace("a", "x", false), namespace("a", "x", true)}, namespace("a", "x", false), events.KindNamespaceChanged, true},
		{"it is watched", nil, watched, events.KindClusterWatched, true},
		{"it is still watched", []events.Facts{watched}, watched, events.KindClusterWatched, false},
		{"it is not watched any more", []events.Facts{watched}, &events.ClusterWatched{}, events.KindClusterWatched, true},
		{"nothing was watched yet", nil, &events.ClusterWatched{}, events.KindClusterWatched, false},
		{"a start forgets that it is watched", []events.Facts{watched, &events.ControllerStarted{}}, watched, events.KindClusterWatched, true},
		{"a start forgets no node", []events.Facts{out, &events.ControllerStarted{}}, out, events.KindNodeChanged, false},
		{"an epoch forgets all", []events.Facts{out, watched, &events.EpochChanged{}}, out, events.KindNodeChanged, true},
		{"something else", nil, &events.PodGone{}, 0, false},
	} {
		if kind, news := known(row.before...).News(row.seen); kind != row.kind || news != row.news {
			t.Errorf("%s: %s, news: %t; want %s, %t", row.name, kind, news, row.kind, row.news)
		}
	}
}

// TestWhatIsKnown: nodes out of order by UID, and namespaces under deletion by name and UID.
func TestWhatIsKnown(t *testing.T) {
	s := known(
		node("2", cordoned), node("1", cordoned), node("3", cordoned), node("3", nil), node("4", cordoned), &events.NodeGone{UID: "4"},
		namespace("b", "y", false), namespace("a", "x", false), namespace("c", "z", false), namespace("c", "z", true),
	)
	nodes, names := "", ""
	for _, f := range s.Nodes() {
		nodes += string(f.UID)
	}
	for _, f := range s.Namespaces() {
		names += f.Name
	}
	if nodes != "12" || names != "ab" {
		t.Errorf("nodes %s, namespaces %s", nodes, names)
	}
	for uid, want := range map[types.UID]bool{"1": true, "2": true, "3": false, "4": false, "5": false} {
		if s.KnowsNode(uid) != want {
			t.Errorf("node %s is known: %t", uid, !want)
		}
	}
	for _, row := range []struct {
		name, uid string
		want      bool
	}{{"a", "x", true}, {"a", "y", false}, {"c", "z", false}, {"d", "x", false}} {
		if s.KnowsNamespace(namespace(row.name, row.uid, false)) != row.want {
			t.Errorf("namespace %s of UID %s is known: %t", row.name, row.uid, !row.want)
		}
	}
}

// TestSurroundingsInAState: what a state has comes back, and nothing of before stays.
func TestSurroundingsInAState(t *testing.T) {
	s := known(node("2", cordoned), node("1", cordoned), namespace("b", "y", false), namespace("a", "x", false), &events.ClusterWatched{Nodes: events.WatchingOn})
	var state pb.WorldState
	s.ToWire(&state)
	if state.GetNodes()[0].GetName() != "node-1" || state.GetNamespaces()[0].GetName() != "a" || len(state.GetNodes()) != 2 || len(state.GetNamespaces()) != 2 {
		t.Errorf("stored is %v", &state)
	}
	again := known(node("old", cordoned), namespace("old", "o", false))
	again.FromWire(&state)
	var back pb.WorldState
	again.ToWire(&back)
	if !proto.Equal(&state, &back) {
		t.Errorf("%v came back as %v", &state, &back)
	}
	if _, news := again.News(&events.ClusterWatched{Nodes: events.WatchingOn}); news {
		t.Error("that nodes are watched is news after a state")
	}
	var empty pb.WorldState
	if known().ToWire(&empty); !proto.Equal(&empty, &pb.WorldState{}) {
		t.Errorf("of nothing is stored %v", &empty)
	}
}
