package ask

import (
	"context"
	"reflect"

	"github.com/spf13/pflag"

	"github.com/jobledger/jobledger/internal/read/which"
)

// Takes says which arguments a question takes, on the command line and in a URL.
type Takes int

const (
	Nothing   Takes = iota
	AnObject        // a Job, a CronJob or a pod
	AJob            // a Job, or a pod of one
	ACronJob        // a CronJob, or a Job or pod that one made
	MaybeOne        // an object, or none for all
	AnInstant       // a CronJob and a time
	AText           // a text to search for
)

// Question is a question about a log. P is the type of its parameters, A the type of its answer.
type Question[P any, A any] struct {
	name  string
	about string   // description in one line
	words []string // words of the command, if not name
	takes Takes
	folds bool // it folds records, so it refuses a log that needs a newer fold version
	new   func() (p *P, how parameters)
	ask   func(context.Context, Source, *P) (*A, error)
}

// parameters are the parameters of one request.
type parameters interface {
	// bind adds the parameters as flags to a flag set, with help and defaults.
	bind(*pflag.FlagSet)
	// read checks the arguments, and the parameters that were set in the flags. Its errors are of type
	// which.WrongError.
	read(args []string) error
	// about returns the namespace that the question is about; empty for all. Call it after read.
	about() string
}

// Asked is one request of a question. To use it, set parameters in Flags, call Read with the arguments, then Ask.
type Asked[A any] struct {
	Entry
	Flags *pflag.FlagSet

	how  parameters
	args []string
	ask  func(context.Context, Source) (*A, error)
}

// New begins a request, with default parameters.
func (q *Question[P, A]) New() *Asked[A] {
	p, how := q.new()
	a := &Asked[A]{Entry: q.Entry(), Flags: pflag.NewFlagSet(q.name, pflag.ContinueOnError), how: how}
	a.ask = func(ctx context.Context, src Source) (*A, error) { return q.ask(ctx, src, p) }
	how.bind(a.Flags)
	return a
}

// Read takes the arguments, and checks them and the parameters. Set the parameters in Flags first.
func (a *Asked[A]) Read(args []string) error {
	a.args = args
	return a.how.read(args)
}

// Arguments returns the arguments that Read took.
func (a *Asked[A]) Arguments() []string { return a.args }

// Namespace returns the namespace that the question is about: that of the object, or the first in which it is searched.
// It is empty for all namespaces. Call it after Read.
func (a *Asked[A]) Namespace() string { return a.how.about() }

// Ask answers the question. It can return an answer and an error together: the package comment says when.
func (a *Asked[A]) Ask(ctx context.Context, src Source) (*A, error) {
	if src.Elsewhere == nil {
		return a.ask(ctx, src)
	}
	answer := new(A)
	there, err := src.Elsewhere(ctx, a.Remote(answer))
	if !there {
		return nil, err
	}
	return answer, err
}

// Entry describes a question without the types of its parameters and answer, so that questions fit into one list.
type Entry struct {
	Name    string
	Command []string // first words of the command line that asks it
	About   string
	Takes   Takes
	Folds   bool
	Answer  reflect.Type
	begin   func() Request
}

// Request is an Asked without the type of its answer.
type Request struct {
	Flags     *pflag.FlagSet
	Read      func(args []string) error
	Namespace func() string                                                 // like Asked.Namespace
	Ask       func(ctx context.Context, src Source) (answer any, err error) // answer is nil if there is none
}

// Begin begins a request, like Question.New.
func (e *Entry) Begin() Request { return e.begin() }

// Entry returns the description of the question.
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

// All returns all questions, sorted by name.
func All() []Entry {
	return []Entry{
		Attempts.Entry(), CronJobs.Entry(), Explain.Entry(), Failures.Entry(), Find.Entry(), Get.Entry(), Jobs.Entry(), Next.Entry(),
		Plan.Entry(), Ticks.Entry(), Timeline.Entry(), WhyNot.Entry(),
	}
}

// Named returns the question with the name.
func Named(name string) (Entry, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// NotNegative returns a which.WrongError for a number below 0.
func NotNegative(flag string, n int) error {
	if n < 0 {
		return which.Wrong("--%s %d: must be 0 or more", flag, n)
	}
	return nil
}
