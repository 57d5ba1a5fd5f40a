package kube

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// Events are combined, counted and slowed down as client-go's EventCorrelator does it for every Kubernetes controller,
// with its numbers. That one makes an object and a patch of each Event before it finds that most of them are not to be
// sent; this one makes neither.
const (
	mostLines      = 4096             // of each memory, as client-go keeps
	mostTexts      = 10               // Events of a Job and reason with different messages that are not combined
	combinedWithin = 10 * time.Minute // after the one before
	burst          = 25               // Events of a Job and reason at once
	oneEach        = 5 * time.Minute  // beyond that
	combinedPrefix = "(combined from similar events): "
)

// line is the Events of one object and reason.
type line struct {
	texts    []string // different messages, of the newest
	told     time.Time
	combined said // what they were combined into
	left     float64
	filled   time.Time
}

type lineOf struct {
	object       types.UID
	kind, reason string
}

// said is an Event that was made, be it sent or not.
type said struct {
	name  string
	count int32
	first time.Time
}

type saidOf struct {
	line lineOf
	text string
}

// toSend is what is to be sent of an Event.
type toSend struct {
	said
	at       time.Time // when it happened last
	text     string
	combined bool // with others, so that it tells of no record
}

// correlator combines similar Events and slows floods down. What is counted is the object and the reason, so that a Job
// with many pods does not use up its Events before it completes. It belongs to one goroutine.
type correlator struct {
	lines *lru.Cache // lineOf → *line
	all   *lru.Cache // saidOf → *said
	now   func() time.Time
}

func newCorrelator(now func() time.Time) *correlator {
	return &correlator{lines: lru.New(mostLines), all: lru.New(mostLines), now: now}
}

// take takes an Event, and says what is to be sent; ok is false for nothing. One that stands alone has that name.
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

// combines reports whether an Event with that message is one too many of its line to stand alone.
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

// mayTell reports whether one more Event of the line may be sent.
func (l *line) mayTell(now time.Time) bool {
	l.left = min(burst, l.left+float64(now.Sub(l.filled))/float64(oneEach))
	l.filled = now
	if l.left < 1 {
		return false
	}
	l.left--
	return true
}
