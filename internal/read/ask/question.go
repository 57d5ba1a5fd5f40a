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
	AJob            // a Job, or one of its pods
	ACronJob        // a CronJob, or a Job or pod that it created
	MaybeOne        // an object, or nothing, which means all objects
	AnInstant       // a CronJob, and an instant
	AText           // a text to search for
)

// Question is one kind of question about a log, such as Explain. P is the type of its parameters, A that of its answer.
type Question[P any, A any] struct {
	name  string
	about string   // description of the question in one line
	words []string // words of the command that asks it; nil if that is name
	takes Takes
	folds bool // it folds records into a state, so it refuses a log that needs a newer program to do so
	new   func() (p *P, how parameters)
	ask   func(context.Context, Source, *P) (*A, error)
}

// parameters are the values of one question that is being asked. Each Question has its own type for them.
type parameters interface {
	// bind adds the parameters as flags to a flag set, with help texts and default values.
	bind(*pflag.FlagSet)
	// read checks the arguments args, and the values that the flags have now. Its errors are of type which.WrongError.
	read(args []string) error
	// about returns the namespace of the question; empty for all. Call it after read.
	about() string
}

// Asked is a Question that is being asked: set its parameters in Flags, call Read with the arguments, then Ask.
type Asked[A any] struct {
	Entry
	Flags *pflag.FlagSet

	how  parameters
	args []string
	ask  func(context.Context, Source) (*A, error)
}

// New returns the question for asking it once, with default parameters.
func (q *Question[P, A]) New() *Asked[A] {
	p, how := q.new()
	a := &Asked[A]{Entry: q.Entry(), Flags: pflag.NewFlagSet(q.name, pflag.ContinueOnError), how: how}
	a.ask = func(ctx context.Context, src Source) (*A, error) { return q.ask(ctx, src, p) }
	how.bind(a.Flags)
	return a
}

// Read parses the arguments, and checks them and the values in Flags. Set Flags first.
func (a *Asked[A]) Read(args []string) error {
	a.args = args
	return a.how.read(args)
}

// Arguments returns the arguments that Read took.
func (a *Asked[A]) Arguments() []string { return a.args }

// Namespace returns the namespace of the question: that of the object, or the first one in which the object is
// searched. It is empty for all namespaces. Call it after Read.
func (a *Asked[A]) Namespace() string { return a.how.about() }

// Ask answers the question from src. If the log is damaged, it returns an answer about the readable part, together with
// an error.
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

// Entry describes a question in the list All. It is without type parameters, so that all questions fit in one list.
type Entry struct {
	Name    string
	Command []string // the words of the command line that ask the question
	About   string
	Takes   Takes
	Folds   bool
	Answer  reflect.Type
	begin   func() Request
}

// Request is an Asked (a question that is being asked) without the type of its answer.
type Request struct {
	Flags     *pflag.FlagSet
	Read      func(args []string) error
	Namespace func() string                                                 // returns the namespace; empty for all
	Ask       func(ctx context.Context, src Source) (answer any, err error) // answer is nil if there is none
}

// Begin returns the question for asking it once, with default parameters.
func (e *Entry) Begin() Request { return e.begin() }

// Entry returns the description of the question that is in the list All.
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
		Attempts.Entry(), CronJobs.Entry(), Events.Entry(), Explain.Entry(), Failures.Entry(), Find.Entry(), Get.Entry(), Jobs.Entry(),
		Next.Entry(), Plan.Entry(), Ticks.Entry(), Timeline.Entry(), WhyNot.Entry(),
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

// NotNegative returns a which.WrongError if the number that flag has is below 0.
func NotNegative(flag string, n int) error {
	if n < 0 {
		return which.Wrong("--%s %d: must be 0 or more", flag, n)
	}
	return nil
}
