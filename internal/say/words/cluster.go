package words

import (
	"fmt"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// NodeText describes a node: "node-7 NotReady, cordoned, taint maintenance:NoExecute".
func NodeText(f *events.NodeSeen) string {
	parts := []string{readiness[f.Ready]}
	if f.Cordoned {
		parts = append(parts, "cordoned")
	}
	parts = append(parts, f.Pressures...)
	for _, key := range f.Taints {
		parts = append(parts, "taint "+key+":NoExecute")
	}
	return "node " + f.Name + " " + strings.Join(parts, ", ")
}

var readiness = map[events.NodeReadiness]string{
	0: "of unknown state", events.NodeReady: "Ready", events.NodeNotReady: "NotReady", events.NodeUnheard: "NotReady (its kubelet is not heard of)",
}

func watchedText(f *events.ClusterWatched) string {
	if f.Nodes == f.Namespaces {
		return "nodes and namespaces are " + watching[f.Nodes]
	}
	return fmt.Sprintf("nodes are %s; namespaces are %s", watching[f.Nodes], watching[f.Namespaces])
}

var watching = map[events.Watching]string{
	0: "not watched yet", events.WatchingOff: "not watched: --watch-cluster=false",
	events.WatchingDenied: "not watched: there is no right to list and watch them", events.WatchingOn: "watched",
}

func nodeGoneText(f *events.NodeGone) string {
	text := gone("node "+f.Name, f.Missed)
	if f.Replaced {
		text += "; there is another of that name"
	}
	return text
}

func (z Zone) namespaceText(f *events.NamespaceSeen) string {
	what := "namespace " + f.Name
	switch {
	case f.Gone:
		return gone(what, f.Missed)
	case f.Deleted != 0:
		return what + " is being deleted since " + z.bare(f.Deleted, "15:04:05")
	}
	return what + " is being deleted"
}

// passedOver says how many earlier changes of the record's object got no record of their own; empty for none.
func passedOver(r *events.Record) string {
	if r.Evidence.PassedOver == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d changes before were not recorded: too many in a short time)", r.Evidence.PassedOver)
}

// passedOverText describes a PassedOver record: it counts changes that got no record because a namespace is over its
// log budget (how much it may write an hour): "namespace ci is over its budget of log: since 12:00:01 3012 pods and 1
// job came and went without a record (3013 versions were seen); counting goes on".
func (z Zone) passedOverText(f *events.PassedOver, namespace string) string {
	whose := "what is in no namespace"
	if namespace != "" {
		whose = "namespace " + namespace
	}
	text := whose + " is over its budget of log: since " + z.bare(f.Since, "15:04:05") + " "
	switch went := wentText(f.Went); {
	case went != "":
		text += fmt.Sprintf("%s came and went without a record (%s seen)", went, versions(f.Versions))
	case f.Versions > 0:
		text += versions(f.Versions) + " passed over"
	case f.Open:
		return whose + " is over its budget of log: from now on not every version of its objects is recorded"
	default:
		text += "nothing was passed over that is not counted elsewhere"
	}
	if f.Open {
		text += "; counting goes on"
	}
	return text
}

// wentText says how many objects were created and deleted again before any record was made: "3012 pods and 1 job";
// empty for none.
func wentText(all []events.ObjectsWent) string {
	var parts []string
	for _, g := range all {
		plural := "s"
		if g.Objects == 1 {
			plural = ""
		}
		parts = append(parts, fmt.Sprintf("%d %s%s", g.Objects, g.Resource, plural))
	}
	return strings.Join(parts, " and ")
}

func versions(n uint64) string {
	if n == 1 {
		return "1 version was"
	}
	return fmt.Sprintf("%d versions were", n)
}
