package kube

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// The correlator, below, combines, counts and rate-limits Events like client-go's EventCorrelator, with the same
// numbers. client-go's makes an object and a patch of each Event, and then finds that most need not be sent. This one
// makes them only for Events that are sent.
const (
	mostLines = 4096 // entries of each cache, as in client-go
	// If a Job has this number of different messages with one reason, the last one and all later ones are combined
	mostTexts = 10
	// After this time without an Event of the same Job and reason, that counting begins again
	combinedWithin = 10 * time.Minute
	burst          = 25              // Events of one Job and reason at once
	oneEach        = 5 * time.Minute // rate after the burst: one Event per 5 minutes
	combinedPrefix = "(combined from similar events): "
)

// line is the state of all Events with the same object, type and reason. told is the time of the newest one; at the
// time filled, left more could be sent.
type line struct {
	texts    []string // the most recent different messages
	told     time.Time
	combined said // the Event into which further messages are combined
	left     float64
	filled   time.Time
}

type lineOf struct {
	object       types.UID
	kind, reason string
}

// said is the identity of a repeated Event: its name, its count so far and the time of the first one. It may not have
// been sent, because of the rate limit.
type said struct {
	name  string
	count int32
	first time.Time
}

type saidOf struct {
	line lineOf
	text string
}

// toSend is an Event to be sent, with its count and text.
type toSend struct {
	said
	at       time.Time // time of the last occurrence
	text     string
	combined bool // several messages are combined in it, so it refers to no record
}

// correlator combines similar Events and limits their rate. It counts per object and reason, so that a Job with many
// pods does not use up its Events before its completion. It belongs to one goroutine.
type correlator struct {
	lines *lru.Cache // lineOf → *line
	all   *lru.Cache // saidOf → *said
	now   func() time.Time
}

func newCorrelator(now func() time.Time) *correlator {
	return &correlator{lines: lru.New(mostLines), all: lru.New(mostLines), now: now}
}

// take counts an Event and returns what to send to the API server. ok is false if nothing is to be sent, because of the
// rate limit. name returns the name to use if the Event is new and not combined.
func (c *correlator) take(e *Event, name func() string) (t toSend, ok bool) {
	now := c.now()
	key := lineOf{e.Job.UID, e.Type, e.Reason}
	l := remembered(c.lines, key, func() *line { return &line{left: burst, filled: now} })
	t = toSend{at: e.At.Go(), text: bounded(e.Message)}
	one := &l.combined
	if t.combined = l.combines(t.text, now); t.combined {
		t.text, t.at = bounded(combinedPrefix+t.text), now
	} else {
		one = remembered(c.all, saidOf{key, t.text}, func() *said { return &said{} })
	}
	switch {
	case one.count > 0:
	case t.combined:
		one.name, one.first = e.Job.Name+"."+strconv.FormatInt(now.UnixNano(), 16), now
	default:
		one.name, one.first = name(), t.at
	}
	one.count++
	t.said = *one
	return t, l.mayTell(now)
}

func remembered[K comparable, V any](in *lru.Cache, key K, made func() *V) *V {
	if v, ok := in.Get(key); ok {
		return v.(*V)
	}
	v := made()
	in.Add(key, v)
	return v
}

// combines reports whether an Event with this message must be combined with others, because it is the mostTexts-th
// different message of its object and reason, or a later one.
func (l *line) combines(text string, now time.Time) bool {
	if now.Sub(l.told) > combinedWithin {
		l.texts = nil
	}
	l.told = now
	for _, known := range l.texts {
		if known == text {
			return false
		}
	}
	if l.texts = append(l.texts, text); len(l.texts) < mostTexts {
		return false
	}
	l.texts = l.texts[:copy(l.texts, l.texts[1:])]
	return true
}

// mayTell reports whether the rate limit allows one more Event of this object and reason.
func (l *line) mayTell(now time.Time) bool {
	l.left = min(burst, l.left+float64(now.Sub(l.filled))/float64(oneEach))
	l.filled = now
	if l.left < 1 {
		return false
	}
	l.left--
	return true
}
