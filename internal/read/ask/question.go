package ask

import (
	"context"
	"reflect"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
)

// Takes says which arguments a question takes: on a command line, and in the address behind its name.
type Takes int

const (
	Nothing   Takes = iota
	AnObject        // a Job, a CronJob or a pod
	AJob            // a Job, or a pod of one
	ACronJob        // a CronJob, or a Job or pod that one made
	MaybeOne        // an object, or none for all
	AnInstant       // a CronJob and a time
	AText           // what is looked for
)

// Question is one question: P are its parameters, A is what it answers.
type Question[P any, A any] struct {
	name  string
	about string   // in one line
	words []string // of the command that asks it, if it has another name
	takes Takes
	folds bool // it folds records, and refuses a log that needs a newer fold
	new   func() (p *P, how parameters)
	ask   func(context.Context, Source, *P) (*A, error)
}

// parameters are those of one asking, before they are read and while they are.
type parameters interface {
	// bind adds the parameters to a set of flags, with their help and what they are unless given.
	bind(*pflag.FlagSet)
	// read checks the parameters, which are set by then, and the arguments. Errors are a which.WrongError.
	read(args []string) error
	// about is the namespace that the question is about, once it was read; empty for all.
	about() string
}

// Asked is a question that is being asked: its parameters are in Flags, and Read takes its arguments.
type Asked[A any] struct {
	Entry
	Flags *pflag.FlagSet

	how  parameters
	args []string
	ask  func(context.Context, Source) (*A, error)
}

// New begins to ask.
func (q *Question[P, A]) New() *Asked[A] {
	p, how := q.new()
	a := &Asked[A]{Entry: q.Entry(), Flags: pflag.NewFlagSet(q.name, pflag.ContinueOnError), how: how}
	a.ask = func(ctx context.Context, src Source) (*A, error) { return q.ask(ctx, src, p) }
	how.bind(a.Flags)
	return a
}

// Read takes the arguments, and checks them and the parameters, which are set by now.
func (a *Asked[A]) Read(args []string) error {
	a.args = args
	return a.how.read(args)
}

// Arguments are those that Read took.
func (a *Asked[A]) Arguments() []string { return a.args }

// Namespace is the one that a question is about that was read: that of its object, or where the object is looked for
// first. It is empty for all.
func (a *Asked[A]) Namespace() string { return a.how.about() }

// Ask answers. There may be an answer beside an error: see the package's comment.
func (a *Asked[A]) Ask(ctx context.Context, src Source) (*A, error) { return a.ask(ctx, src) }

// Entry is what there is to say of a question, without asking it.
type Entry struct {
	Name    string
	Command []string // the words with which a command line begins that asks it
	About   string
	Takes   Takes
	Folds   bool
	Answer  reflect.Type
	begin   func() Request
}

// Request is an Asked whatever the type of its answer.
type Request struct {
	Flags     *pflag.FlagSet
	Read      func(args []string) error
	Namespace func() string                                                 // as of an Asked
	Ask       func(ctx context.Context, src Source) (answer any, err error) // answer is nil for none
}

// Begin begins to ask, as New does.
func (e *Entry) Begin() Request { return e.begin() }

// Entry says what there is to say of the question.
func (q *Question[P, A]) Entry() Entry {
	words := q.words
	if words == nil {
		words = []string{q.name}
	}
	return Entry{
		Name: q.name, Command: words, About: q.about, Takes: q.takes, Folds: q.folds, Answer: reflect.TypeFor[A](),
		begin: func() Request {
			a := q.New()
			of := Request{Flags: a.Flags, Read: a.Read, Namespace: a.Namespace}
			of.Ask = func(ctx context.Context, src Source) (any, error) {
				answer, err := a.Ask(ctx, src)
				if answer == nil {
					return nil, err
				}
				return answer, err
			}
			return of
		},
	}
}

// All are the questions, by name.
func All() []Entry {
	return []Entry{
		Attempts.Entry(), CronJobs.Entry(), Explain.Entry(), Failures.Entry(), Find.Entry(), Get.Entry(), Jobs.Entry(), Next.Entry(),
		Plan.Entry(), Ticks.Entry(), Timeline.Entry(), WhyNot.Entry(),
	}
}

// Named is the question of a name.
func Named(name string) (Entry, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// NotNegative refuses a number below 0.
func NotNegative(flag string, n int) error {
	if n < 0 {
		return which.Wrong("--%s %d: must be 0 or more", flag, n)
	}
	return nil
}
