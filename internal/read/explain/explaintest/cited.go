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
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Cited checks that a sentence takes its values from the records that it cites. For each value that a sentence shares
// with a cited record, it changes the value in all cited records, and in no other, and asks again. If the sentence
// stays the same, its value comes from a record that is not cited, which is a [Finding]. Values are exit codes,
// reasons, messages, times, nodes, field managers, grace periods, due times and delays. Cited asks about each oneOf-th
// Job and CronJob; 1 means all.
func Cited(ctx context.Context, src history.Source, oneOf int) (*Report, error) {
	all, err := readAll(ctx, src)
	if err != nil {
		return nil, err
	}
	var asked []question
	for _, s := range all.jobs {
		asked = append(asked, func(src history.Source) ([]*explain.Answer, error) { return jobAnswers(ctx, src, s) })
	}
	crons, err := cronQuestions(ctx, src, all)
	if err != nil {
		return nil, err
	}
	return citedBy(src, all, append(asked, crons...), oneOf)
}

// CitedOfCrons checks the citations of answers about CronJobs only, as [Cited] does.
func CitedOfCrons(ctx context.Context, src history.Source, oneOf int) (*Report, error) {
	all, err := readAll(ctx, src)
	if err != nil {
		return nil, err
	}
	asked, err := cronQuestions(ctx, src, all)
	if err != nil {
		return nil, err
	}
	return citedBy(src, all, asked, oneOf)
}

func citedBy(src history.Source, all *everything, asked []question, oneOf int) (*Report, error) {
	r := &Report{}
	for i, ask := range asked {
		if i%oneOf != 0 {
			continue
		}
		if err := r.cited(src, all, ask); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// question asks a log for answers. For the same log it must return the same answers in the same order.
type question func(src history.Source) ([]*explain.Answer, error)

// jobAnswers returns the answers about a Job and its pods at the end of the log.
func jobAnswers(ctx context.Context, src history.Source, s events.Stream) (out []*explain.Answer, err error) {
	c, err := job.Read(ctx, src, s, history.Point{})
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

// cited checks one question: it changes, one after the other, each value that a sentence shares with its cited records,
// and asks again. Each change adds 1 to Report.Sentences.
func (r *Report) cited(src history.Source, all *everything, ask question) error {
	before, err := ask(src)
	if err != nil {
		return err
	}
	for _, a := range before {
		r.Answers++
		for _, x := range sentences(a) {
			for _, v := range all.valuesOf(&x) {
				r.Sentences++
				now, err := ask(&altered{src, &x, v})
				if err != nil {
					continue // with the other value the Job cannot be read, so no sentence stays the same
				}
				for _, b := range now {
					if b.UID == a.UID && slices.ContainsFunc(sentences(b), func(y explain.Sentence) bool {
						return y.Text == x.Text &&
							within(y.Records, x.Records)
					}) {
						r.claims("a value of another record", a, 0, []claim{{x.Text,
							fmt.Sprintf("it stays when %s %s of records %v is another", v.field, v.form, x.Records)}})
					}
				}
			}
		}
	}
	return nil
}

func within(some, all []uint64) bool {
	return !slices.ContainsFunc(some, func(r uint64) bool { return !slices.Contains(all, r) })
}

// value is the value of a field in a cited record, and the form in which a sentence shows it.
type value struct {
	field string // name of the field
	form  string
}

// identities are fields that identify objects, or name parts of a record. They are not changed, because an answer would
// then be about something else.
var identities = []string{
	"Namespace", "Owner", "UID", "Job", "Sentence", "Template", "State", "Stage", "Rule", "Type", "Kind", "Status",
	"Schedule", "TimeZone", "Policy", "Name",
}

// valuesOf returns the values in the records that sentence x cites and that its text shows. A value inside a longer one
// does not count, such as a container's name in a message.
func (e *everything) valuesOf(x *explain.Sentence) (out []value) {
	text := x.Text
	for _, n := range x.Records {
		if r := e.at[events.Sequence(n)]; r != nil {
			changed(r, func(field string, v any) any {
				for _, form := range formsOf(field, v) {
					if says(x.Text, form) && !slices.ContainsFunc(out, func(w value) bool { return w.form == form }) {
						out = append(out, value{field, form})
					}
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

// says reports whether a text contains form as whole words.
func says(text, form string) bool {
	text = strings.ReplaceAll(text, "passed at "+form, "") // this time is computed, not read from a record
	return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(form) + `($|[^\w:-]|:\D|:$)`).MatchString(text)
}

// formsOf returns the texts by which a sentence may show value v of a field; none if the value is too common to be
// recognized.
func formsOf(field string, v any) []string {
	if slices.Contains(identities, field) {
		return nil
	}
	switch v := v.(type) {
	case string:
		if len(v) >= 4 && strings.TrimSpace(v) == v {
			return []string{v}
		}
	case events.Time:
		if v != 0 {
			return clockForms(v.Go())
		}
	case time.Duration:
		return durationForms(field, v)
	case events.RefusalClass:
		return []string{"(" + v.String() + ")"}
	case int32:
		if field == "ExitCode" && v != 0 {
			return []string{fmt.Sprintf("exit %d", v)}
		}
	case int64:
		switch field {
		case "DeletionGracePeriodSeconds":
			return []string{"given " + words.Span(time.Duration(v)*time.Second)}
		case "Deadline":
			return []string{fmt.Sprintf("startingDeadlineSeconds %d", v), fmt.Sprintf("startingDeadlineSeconds is %d", v)}
		}
	}
	return nil
}

// clockForms returns a time of day in UTC. A whole minute may be a due time, which is also written without seconds.
func clockForms(t time.Time) []string {
	out := []string{t.UTC().Format(time.TimeOnly)}
	if t.Truncate(time.Minute).Equal(t) {
		out = append(out, t.UTC().Format("2 Jan 15:04"), t.UTC().Format("2006-01-02 15:04"), t.UTC().Format("(15:04"))
	}
	return out
}

// durationForms returns the texts by which a sentence may show a delay: how late a run started, or how late it was
// seen.
func durationForms(field string, d time.Duration) []string {
	switch field {
	case "Late":
		return []string{words.Span(d) + " late"}
	case "Seen":
		return []string{"seen " + words.Span(d) + " after"}
	}
	return nil
}

// other returns a different value of the same type as v.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return "Other" + v
	case events.Time:
		return v.Add(11 * time.Minute)
	case time.Duration:
		return v + 17*time.Minute
	case events.RefusalClass:
		if v == events.RefusedQuota {
			return events.RefusedForbidden
		}
		return events.RefusedQuota
	case int32:
		return v + 40
	case int64:
		return v + 40
	}
	return v
}

// altered is a log in which one value is changed: only in the records that a sentence cites, and only in one field.
type altered struct {
	history.Source
	sentence *explain.Sentence
	value    value
}

func (a *altered) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return a.each(a.Source.Read(ctx, from))
}

func (a *altered) ReadStream(ctx context.Context, s events.Stream, from events.Sequence,
	dir store.Direction) iter.Seq2[events.Record, error] {
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
					if slices.Contains(formsOf(field, v), a.value.form) {
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

// changed returns a deep copy of record r, in which each string, number and time is replaced by the result of by. by
// also gets the name of the field.
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
				if t := v.Type(); name == "Name" && (t == reflect.TypeFor[events.ContainerEnd]() ||
					t == reflect.TypeFor[events.ContainerWait]()) {
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
