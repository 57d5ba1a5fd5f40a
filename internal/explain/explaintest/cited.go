package explaintest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/explain"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
	"github.com/jobledger/jobledger/store"
)

// Cited alters each value that a sentence says and a record that it cites holds: an exit code, a reason, a message, a time, a node, a field
// manager, how long a pod was given to stop. It alters the value in all records that the sentence cites, and in no other. A sentence that stays
// as it is has the value from a record that it does not cite, which is a [Finding]. It asks of the Jobs and pods of a log, one of so many: 1 for
// all.
func Cited(ctx context.Context, src history.Source, oneOf int) (*Report, error) {
	all, err := readAll(ctx, src)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	for i, s := range all.jobs {
		if i%oneOf != 0 {
			continue
		}
		before, err := answersOf(ctx, src, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		for _, a := range before {
			if err := r.cited(ctx, src, all, s, a); err != nil {
				return nil, fmt.Errorf("%s: %w", s, err)
			}
		}
	}
	return r, nil
}

// answersOf are the answers about a Job and its pods, as of the end of the log.
func answersOf(ctx context.Context, src history.Source, s events.Stream) (out []*explain.Answer, err error) {
	c, err := explain.Read(ctx, src, s, history.Point{})
	if errors.Is(err, history.ErrNoJob) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := c.Answer()
	out = append(out, &a)
	for _, t := range c.Tries {
		if pod, err := c.PodAnswer(string(t.UID)); err == nil {
			out = append(out, &pod)
		}
	}
	return out, nil
}

// cited alters what the sentences of an answer say. Each altered value counts as a sentence.
func (r *Report) cited(ctx context.Context, src history.Source, all *everything, s events.Stream, a *explain.Answer) error {
	r.Answers++
	for _, x := range sentences(a) {
		for _, v := range all.valuesOf(&x) {
			r.Sentences++
			now, err := answersOf(ctx, &altered{src, all, &x, v}, s)
			if err != nil {
				continue // a Job that cannot be told any more says nothing
			}
			for _, b := range now {
				if b.UID == a.UID && slices.ContainsFunc(sentences(b), func(y explain.Sentence) bool { return y.Text == x.Text && within(y.Records, x.Records) }) {
					r.claims("a value of another record", a, 0, []claim{{x.Text, fmt.Sprintf("it stays when %s %s of records %v is another", v.field, v.form, x.Records)}})
				}
			}
		}
	}
	return nil
}

func within(some, all []uint64) bool {
	return !slices.ContainsFunc(some, func(r uint64) bool { return !slices.Contains(all, r) })
}

// value is something that a field of a record holds, and as what it stands in a sentence.
type value struct {
	field string // one of those that hold it
	form  string
}

// identities are fields that say which object a record is about, or that only name what they hold.
var identities = []string{
	"Namespace", "Owner", "UID", "Job", "Sentence", "Template", "State", "Stage", "Rule", "Type", "Kind", "Status", "Schedule", "TimeZone", "Policy", "Name",
}

// valuesOf are the values of cited records that a sentence says. What stands in a longer one of them, as a container's name in a message, is
// not said by itself.
func (e *everything) valuesOf(x *explain.Sentence) (out []value) {
	text := x.Text
	for _, n := range x.Records {
		if r := e.at[events.Sequence(n)]; r != nil {
			changed(r, func(field string, v any) any {
				form := formOf(field, v)
				if form != "" && says(x.Text, form) && !slices.ContainsFunc(out, func(w value) bool { return w.form == form }) {
					out = append(out, value{field, form})
				}
				return v
			})
		}
	}
	slices.SortStableFunc(out, func(a, b value) int { return len(b.form) - len(a.form) })
	return slices.DeleteFunc(out, func(v value) bool {
		is := says(text, v.form)
		text = strings.ReplaceAll(text, v.form, "")
		return !is
	})
}

// says reports whether a text has a form, as whole words.
func says(text, form string) bool {
	text = strings.ReplaceAll(text, "passed at "+form, "") // an end that is worked out
	return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(form) + `($|[^\w-])`).MatchString(text)
}

// formOf is as what a value stands in a sentence; empty for one that cannot be known there.
func formOf(field string, v any) string {
	if slices.Contains(identities, field) {
		return ""
	}
	switch v := v.(type) {
	case string:
		if len(v) >= 4 && strings.TrimSpace(v) == v {
			return v
		}
	case events.Time:
		if v != 0 {
			return v.Go().UTC().Format(time.TimeOnly)
		}
	case int32:
		if field == "ExitCode" && v != 0 {
			return fmt.Sprintf("exit %d", v)
		}
	case int64:
		if field == "DeletionGracePeriodSeconds" {
			return "given " + words.Span(time.Duration(v)*time.Second)
		}
	}
	return ""
}

// other is another value of the sort.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return "Other" + v
	case events.Time:
		return v.Add(11 * time.Minute)
	case int32:
		return v + 40
	case int64:
		return v + 40
	}
	return v
}

// altered is a log in which the records that a sentence cites hold another value.
type altered struct {
	history.Source
	all      *everything
	sentence *explain.Sentence
	value    value
}

func (a *altered) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return a.each(a.Source.Read(ctx, from))
}

func (a *altered) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return a.each(a.Source.ReadStream(ctx, s, from, dir))
}

func (a *altered) Records(ctx context.Context, q history.Query) iter.Seq2[events.Record, error] {
	return a.each(a.Source.Records(ctx, q))
}

func (a *altered) each(records iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range records {
			if slices.Contains(a.sentence.Records, uint64(r.Sequence)) {
				r = *changed(&r, func(field string, v any) any {
					if formOf(field, v) == a.value.form {
						return other(v)
					}
					return v
				})
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// changed is a deep copy of a record in which each string, number and time is what a function makes of it. It is told the field's name.
func changed(r *events.Record, by func(field string, v any) any) *events.Record {
	out := *r
	out.Facts, _ = replaced("", reflect.ValueOf(&r.Facts).Elem(), by).Interface().(events.Facts)
	evidence := replaced("", reflect.ValueOf(r.Evidence), by)
	out.Evidence, _ = evidence.Interface().(events.Evidence)
	out.Evidence.Name = r.Evidence.Name
	out.Time, _ = by("Time of the record", r.Time).(events.Time)
	return &out
}

func replaced(field string, v reflect.Value, by func(string, any) any) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return out
		}
		if v.Kind() == reflect.Interface {
			out.Set(replaced(field, v.Elem(), by))
			return out
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(replaced(field, v.Elem(), by))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				name := f.Name
				if t := v.Type(); name == "Name" && (t == reflect.TypeFor[events.ContainerEnd]() || t == reflect.TypeFor[events.ContainerWait]()) {
					name = "Container"
				}
				out.Field(i).Set(replaced(name, v.Field(i), by))
			}
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return out
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(replaced(field, v.Index(i), by))
		}
	default:
		if v.CanInterface() && !v.IsZero() {
			out.Set(reflect.ValueOf(by(field, v.Interface())))
		}
	}
	return out
}
