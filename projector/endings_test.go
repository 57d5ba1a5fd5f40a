package projector_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// creates decides that pods 1 to n are to be made, and returns the names of the commands.
func (f *fold) creates(n int) []events.CommandID {
	var commands []events.Command
	var names []events.CommandID
	for i := range n {
		commands = append(commands, &events.CreatePod{Ordinal: uint64(i + 1), Index: int32(i), Template: "t"})
		names = append(names, events.CommandID{Place: uint32(i)})
	}
	decided := f.decide(commands...).Decided
	for i := range names {
		names[i].Decided = decided
	}
	return names
}

// shown writes the creates that have not ended.
func (f *fold) shown() string {
	text := ""
	for _, c := range f.job().Creates() {
		text += fmt.Sprintf("#%d", c.Ordinal)
		for _, is := range []struct {
			so   bool
			word string
		}{
			{c.Flight() != nil, " in flight"}, {c.Doubted, " in doubt"}, {c.MustList, " to look for"},
			{c.Retrying(), " retrying"}, {c.Cancelled(), " given up"},
		} {
			if is.so {
				text += is.word
			}
		}
		text += fmt.Sprintf(" sent %s; ", f.in(c.Sent))
	}
	return text + fmt.Sprint(len(f.job().AllRetrying())) + " stand"
}

// TestHowACreateEnds: what a create holds, and what its Job learns, after each way in which it can end.
//
// J-017: a refusal makes the next create wait, twice as long each time.
// J-057: one refused create stands for all.
func TestHowACreateEnds(t *testing.T) {
	retry := func(f *fold) string {
		r := f.job().Creating()
		return fmt.Sprintf("%d tries %q, again in %s, window %d", r.Count, r.Class.String(), f.in(r.Until), f.job().Window)
	}
	checkFacts(t, []fact{
		{"J-060: the pod of a create that is done is known before it is seen", func(f *fold) string {
			f.end(f.creates(1)[0], done("pod", 19))
			p := f.job().Pod("pod")
			return fmt.Sprint(f.shown(), " ", p.Seen, " ", p.Name, " ", p.Index, p.Ordinal, p.Version, p.Phase, p.Tracked, p.Active(), f.job().Tally().Active)
		}, "0 stand false demo-0 0 1 19 Pending true true 1"},
		{"J-060: a pod that was seen and is gone does not come back when its create is done", func(f *fold) string {
			name := f.creates(1)[0]
			f.pod(nil)
			f.record(events.KindPodDeleted, &events.PodGone{UID: "pod", Version: 21})
			f.end(name, done("pod", 20))
			return fmt.Sprint(f.job().PodCount(), f.job().Busy())
		}, "0 false"},
		{"J-119: the pod of a create has the counts that it took over", func(f *fold) string {
			f.end(f.decide(&events.CreatePod{Ordinal: 1, Index: 1, Template: "t", IndexFailures: 2, IndexIgnoredFailures: 3}), done("pod", 19))
			p := f.job().Pod("pod")
			return fmt.Sprint(p.IndexFailures, p.IndexIgnoredFailures, p.Index)
		}, "2 3 1"},
		{"J-057: a create that is done makes room for another", func(f *fold) string {
			f.end(f.creates(1)[0], done("pod", 19))
			return retry(f)
		}, `0 tries "", again in 0s, window 2`},
		{"J-050: but for no more than may be made in one decision", func(f *fold) string {
			f.restart(func(s *events.Settings) { s.MaxPodsPerDecision = 1 })
			f.end(f.creates(1)[0], done("pod", 19))
			return retry(f)
		}, `0 tries "", again in 0s, window 1`},
		{"J-057: the first that is refused stands, and the others free their slots", func(f *fold) string {
			names := f.creates(2)
			f.end(names[0], refused(events.RefusedQuota))
			f.end(names[1], refused(events.RefusedQuota))
			return f.shown() + "; " + retry(f) + fmt.Sprint("; free ", f.job().FreeIndexes(9))
		}, `#1 in flight retrying sent 0s; 1 stand; 1 tries "Quota", again in 1s, window 1; free [1 2]`},
		{"J-017: refused again it waits longer", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.now += 1e9
			f.end(name, refused(events.RefusedQuota))
			return f.shown() + "; " + retry(f)
		}, `#1 in flight retrying sent -1s; 1 stand; 2 tries "Quota", again in 2s, window 1`},
		{"J-017: it waits as long as the server asks", func(f *fold) string {
			f.end(f.creates(1)[0], func(e *events.CommandEnded) {
				e.Ending, e.Class, e.RetryAfter = events.Refused, events.RefusedTooManyRequests, 7*time.Second
			})
			return retry(f)
		}, `1 tries "TooManyRequests", again in 7s, window 1`},
		{"J-059: in a namespace that is being deleted it waits as long as there is", func(f *fold) string {
			f.end(f.creates(1)[0], refused(events.RefusedNamespaceTerminating))
			return retry(f)
		}, `1 tries "NamespaceTerminating", again in 1m0s, window 1`},
		{"J-064: one whose name is taken ends, and the next has another", func(f *fold) string {
			f.end(f.creates(1)[0], refused(events.RefusedNameTaken))
			return f.shown() + fmt.Sprint("; newest ordinal ", f.job().Ordinal)
		}, "0 stand; newest ordinal 1"},
		{"J-014: one of a template that is not there any more ends", func(f *fold) string {
			f.end(f.creates(1)[0], refused(events.RefusedTemplate))
			return f.shown()
		}, "0 stand"},
		{"J-060: one of unknown end holds its slot, and its time counts from then", func(f *fold) string {
			name := f.creates(1)[0]
			f.now += 5e9
			f.end(name, unknown)
			return f.shown() + fmt.Sprint("; free ", f.job().FreeIndexes(9), f.job().InFlight(name))
		}, "#1 in doubt sent 0s; 0 stand; free [1 2] <nil>"},
		{"J-060: refused after that it does not end: its own pod may be in the way", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.now += 5e9
			name := f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true})
			f.now += 5e9
			f.end(name, refused(events.RefusedQuota))
			return f.shown()
		}, "#1 in doubt to look for sent -5s; 0 stand"},
		{"J-060: when its name is taken by another it does", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.end(f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true}), refused(events.RefusedNameTaken))
			return f.shown()
		}, "0 stand"},
		{"J-060: looked for and not found, it ends", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.end(f.decide(&events.ReadPod{Ordinal: 1, Index: 0}), done("", 0))
			return f.shown() + "; " + retry(f)
		}, `0 stand; 1 tries "", again in 1s, window 1`},
		{"J-060: looked for and found, its pod is known", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.end(f.decide(&events.ReadPod{Ordinal: 1, Index: 0}), done("pod", 25))
			return f.shown() + fmt.Sprint("; active ", f.job().Tally().Active)
		}, "0 stand; active 1"},
		{"J-060: a search that is refused, whatever for, is made again", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.now += 5e9
			f.end(f.decide(&events.ReadPod{Ordinal: 1, Index: 0}), refused(events.RefusedNameTaken))
			return f.shown() + "; " + retry(f)
		}, `#1 in doubt to look for sent -5s; 0 stand; 2 tries "NameTaken", again in 2s, window 1`},
		{"J-060: a search of unknown end has sent nothing that could make a pod", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.now += 5e9
			f.end(f.decide(&events.ReadPod{Ordinal: 1, Index: 0}), unknown)
			return f.shown()
		}, "#1 in doubt sent -5s; 0 stand"},
		{"J-060: asked again, it may have been sent then", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			f.now += 5e9
			f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true})
			return f.shown()
		}, "#1 in flight in doubt sent 0s; 0 stand"},
		{"J-057: one that stands and whose end is then unknown is in doubt", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.now += 1e9
			f.end(name, unknown)
			return f.shown() + "; " + retry(f)
		}, `#1 in doubt sent 0s; 0 stand; 2 tries "", again in 2s, window 1`},
		{"one that is given up is awaited", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.decide(&events.Withdraw{Command: name})
			flight, _ := f.job().Retrying(name)
			return f.shown() + fmt.Sprint("; ", f.job().GaveUp(name), flight)
		}, "#1 in flight retrying given up sent 0s; 0 stand; true <nil>"},
		{"given up and not sent, it ends", func(f *fold) string {
			name := f.creates(1)[0]
			f.decide(&events.Withdraw{Command: name})
			f.end(name, withdrawn)
			return f.shown()
		}, "0 stand"},
		{"given up and refused, it ends", func(f *fold) string {
			name := f.creates(1)[0]
			f.decide(&events.Withdraw{Command: name})
			f.end(name, refused(events.RefusedQuota))
			return f.shown()
		}, "0 stand"},
		{"given up while it stands, and refused once more, it ends", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.decide(&events.Withdraw{Command: name})
			f.end(name, refused(events.RefusedQuota))
			return f.shown()
		}, "0 stand"},
		{"given up, and its newest try of unknown end, it is in doubt and nothing else", func(f *fold) string {
			name := f.creates(1)[0]
			f.decide(&events.Withdraw{Command: name})
			f.end(name, unknown)
			return f.shown()
		}, "#1 in doubt sent 0s; 0 stand"},
		{"a doubt from before stays when what was asked again was not sent", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			name := f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true})
			f.end(name, withdrawn)
			return f.shown() + fmt.Sprint("; ", f.job().InFlight(name))
		}, "#1 in doubt sent 0s; 0 stand; <nil>"},
		{"and when it was given up", func(f *fold) string {
			f.end(f.creates(1)[0], unknown)
			name := f.decide(&events.CreatePod{Ordinal: 1, Index: 0, Template: "t", Again: true})
			f.decide(&events.Withdraw{Command: name})
			f.end(name, withdrawn)
			return f.shown()
		}, "#1 in doubt sent 0s; 0 stand"},
		{"J-017: when another create is done, one that stands begins its waits anew", func(f *fold) string {
			names := f.creates(2)
			f.end(names[0], refused(events.RefusedQuota))
			f.now += 1e9
			f.end(names[0], refused(events.RefusedQuota))
			f.now += 5e8
			f.end(names[1], done("pod", 19))
			return f.shown() + "; " + retry(f)
		}, `#1 in flight retrying sent -1.5s; 1 stand; 1 tries "Quota", again in 1s, window 2`},
		{"J-017: when none stands, what was learnt from refusals is forgotten", func(f *fold) string {
			names := f.creates(2)
			f.end(names[0], unknown)
			f.end(names[1], done("pod", 19))
			return retry(f)
		}, `0 tries "", again in 0s, window 2`},
		{"J-060: after a restart one that was in flight may have been sent", func(f *fold) string {
			f.creates(1)
			f.now += 5e9
			f.restart(nil)
			return f.shown() + fmt.Sprint("; ", f.job().Recheck)
		}, "#1 in doubt sent 0s; 0 stand; true"},
		{"J-057: one that stands goes on retrying after a restart", func(f *fold) string {
			f.end(f.creates(1)[0], refused(events.RefusedQuota))
			f.now += 5e9
			f.restart(nil)
			return f.shown()
		}, "#1 in flight in doubt retrying sent 0s; 1 stand"},
		{"but one that is given up is in doubt", func(f *fold) string {
			name := f.creates(1)[0]
			f.end(name, refused(events.RefusedQuota))
			f.decide(&events.Withdraw{Command: name})
			f.restart(nil)
			return f.shown()
		}, "#1 in doubt sent 0s; 0 stand"},
		{"after a restart nothing is asked of a Job for which nothing is made", func(f *fold) string {
			f.restart(nil)
			return fmt.Sprint(f.job().Recheck)
		}, "false"},
	})
}

// TestHowAStatusWriteEnds: what the end says about the published status, and what has to be read after it.
func TestHowAStatusWriteEnds(t *testing.T) {
	seven := int32(7)
	write := func(f *fold) events.CommandID {
		return f.decide(&events.WriteStatus{Base: 10, Change: events.StatusChange{Ready: &seven}})
	}
	shown := func(f *fold) string {
		j := f.job()
		return fmt.Sprintf("ready %d of %d, busy %v, read %v, seen %v, %d tries, again in %s, in doubt for %s", j.Base.Ready, j.Version,
			j.Busy(), j.Look, j.Recheck, j.Writing().Count, f.in(j.Writing().Until), f.in(j.EndInDoubt))
	}
	checkFacts(t, []fact{
		{"done, it is the published status", func(f *fold) string {
			f.end(write(f), done(job, 11))
			return shown(f)
		}, "ready 7 of 11, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 0s"},
		{"done, after a newer version was seen, that one is", func(f *fold) string {
			name := write(f)
			f.see(12, nil)
			f.end(name, done(job, 11))
			return shown(f)
		}, "ready -1 of 12, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 0s"},
		{"done, what was learnt from refusals is forgotten, whatever was seen before", func(f *fold) string {
			f.end(write(f), refused(events.RefusedServer))
			f.now += 1e9
			name := write(f)
			f.see(12, nil)
			f.end(name, done(job, 11))
			return shown(f)
		}, "ready -1 of 12, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 0s"},
		{"J-237: refused as invalid, the Job is read first", func(f *fold) string {
			f.end(write(f), refused(events.RefusedInvalid))
			return shown(f)
		}, "ready -1 of 10, busy false, read true, seen true, 1 tries, again in 1s, in doubt for 0s"},
		{"refused because there is no such Job, it is read first", func(f *fold) string {
			f.end(write(f), refused(events.RefusedNotFound))
			return shown(f)
		}, "ready -1 of 10, busy false, read true, seen true, 1 tries, again in 1s, in doubt for 0s"},
		{"J-017: refused for what reading does not help against, it only waits", func(f *fold) string {
			f.end(write(f), refused(events.RefusedForbidden))
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 1 tries, again in 1s, in doubt for 0s"},
		{"J-017: a conflict waits for the newer version, not longer each time", func(f *fold) string {
			f.end(write(f), refused(events.RefusedServer))
			f.now += 1e9
			f.end(write(f), refused(events.RefusedConflict))
			return shown(f)
		}, "ready -1 of 10, busy false, read true, seen true, 2 tries, again in 1s, in doubt for 0s"},
		{"a conflict that was found before it was sent waits for nothing", func(f *fold) string {
			f.end(write(f), func(e *events.CommandEnded) {
				e.Ending, e.Class, e.Sent = events.Refused, events.RefusedConflict, false
			})
			return shown(f)
		}, "ready -1 of 10, busy false, read true, seen true, 1 tries, again in 0s, in doubt for 0s"},
		{"unknown, the Job is read first", func(f *fold) string {
			f.end(write(f), unknown)
			return shown(f)
		}, "ready -1 of 10, busy false, read true, seen true, 1 tries, again in 1s, in doubt for 0s"},
		{"J-009: unknown, and it says how the Job ends: that is in doubt", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), unknown)
			return shown(f)
		}, "ready -1 of 10, busy false, read true, seen true, 1 tries, again in 1s, in doubt for 1m0s"},
		{"unknown, and it accounts for a pod: so is that", func(f *fold) string {
			f.plain()
			f.pod(failed)
			f.end(f.decide(&events.WriteStatus{Base: 11, Change: events.StatusChange{AddFailed: []types.UID{"pod"}}}), unknown)
			return shown(f)
		}, "ready -1 of 11, busy false, read true, seen true, 1 tries, again in 1s, in doubt for 1m0s"},
		{"J-009: the server has answered, and a live read finds no newer version: in doubt no more", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), over)
			f.end(f.decide(&events.ReadJob{}), func(e *events.CommandEnded) { e.Ending, e.UID = events.Done, "job" })
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen true, 1 tries, again in 1s, in doubt for 0s"},
		{"but with one before it that the server has not answered it is", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), unknown)
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), over)
			f.end(f.decide(&events.ReadJob{}), func(e *events.CommandEnded) { e.Ending, e.UID = events.Done, "job" })
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen true, 1 tries, again in 1s, in doubt for 1m0s"},
		{"J-009: a process that starts while such a write is in flight is in the same doubt", func(f *fold) string {
			f.decide(&events.WriteStatus{Base: 10, Change: failing})
			f.restart(nil)
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 1m0s"},
		{"refused, it is not in doubt", func(f *fold) string {
			f.end(f.decide(&events.WriteStatus{Base: 10, Change: failing}), refused(events.RefusedServer))
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 1 tries, again in 1s, in doubt for 0s"},
		{"withdrawn, nothing was learnt", func(f *fold) string {
			f.end(write(f), withdrawn)
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 0s"},
		{"given up, it is over", func(f *fold) string {
			f.decide(&events.Withdraw{Command: write(f)})
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 0s"},
		{"J-017: writes that were decided together with one that was refused are one try with it", func(f *fold) string {
			first := write(f)
			f.end(first, refused(events.RefusedServer))
			f.now += 5e8
			f.end(write(f), refused(events.RefusedServer))
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 1 tries, again in 1s, in doubt for 0s"},
		{"J-176: read, and as it is known", func(f *fold) string {
			f.end(write(f), unknown)
			f.now += 1e9
			f.end(f.decide(&events.ReadJob{}), done(job, 10))
			return shown(f) + fmt.Sprint("; confirmed ", f.job().Confirmed == f.now)
		}, "ready -1 of 10, busy false, read false, seen true, 1 tries, again in 0s, in doubt for 0s; confirmed true"},
		{"J-176: read, and another has its name: it is gone", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.ReadJob{}), done("other", 10))
			return fmt.Sprint(f.job().Gone, f.job().Busy(), f.job().Confirmed)
		}, "true false 0"},
		{"read, and none has its name: it is gone", func(f *fold) string {
			f.pod(nil)
			f.end(f.decide(&events.ReadJob{}), refused(events.RefusedNotFound))
			return fmt.Sprint(f.job().Gone)
		}, "true"},
		{"J-017: a read that is refused waits like a write", func(f *fold) string {
			f.end(f.decide(&events.ReadJob{}), refused(events.RefusedForbidden))
			return shown(f) + fmt.Sprint(" ", f.job().Gone)
		}, "ready -1 of 10, busy false, read false, seen false, 1 tries, again in 1s, in doubt for 0s false"},
		{"J-017: so does one of unknown end", func(f *fold) string {
			f.end(f.decide(&events.ReadJob{}), unknown)
			return shown(f)
		}, "ready -1 of 10, busy false, read false, seen false, 1 tries, again in 1s, in doubt for 0s"},
		{"a read that is withdrawn says nothing", func(f *fold) string {
			f.end(f.decide(&events.ReadJob{}), withdrawn)
			return shown(f) + fmt.Sprint(" ", f.job().Gone)
		}, "ready -1 of 10, busy false, read false, seen false, 0 tries, again in 0s, in doubt for 0s false"},
	})
}
