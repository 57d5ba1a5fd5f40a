package apiserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Call is one API call, before it is answered.
type Call struct {
	Actor       string
	Verb        string // get, list, create, update, patch, delete
	Subresource string // "status", "binding" or empty
	Kind        Kind
	Namespace   string
	Name        string    // empty for a create by generateName
	UID         types.UID // UID in a precondition or in the object; empty for none
}

func (c Call) String() string {
	what := string(c.Kind)
	if c.Subresource != "" {
		what += "/" + c.Subresource
	}
	return fmt.Sprintf("%s: %s %s %s/%s", c.Actor, c.Verb, what, c.Namespace, c.Name)
}

// Answered is a call with its answer, as [Server.Calls] returns it.
type Answered struct {
	Call
	Time    time.Time
	Version uint64 // resource version of the server after the call
	Fault   Fault
	Err     error // the error that the caller got
}

// FaultKind is a way in which a call goes wrong.
type FaultKind uint8

// The faults. A call without effect changes nothing in the server.
const (
	NoFault           FaultKind = iota
	TimeoutBefore               // the request is lost: no effect, context.DeadlineExceeded
	TimeoutAfter                // the answer is lost: effect, context.DeadlineExceeded
	TimeoutLate                 // the request is delayed: context.DeadlineExceeded now, the effect after Delay
	TooManyRequests             // 429 with Retry-After, no effect
	ServerError                 // 500, no effect
	ServerErrorAfter            // 500, although the effect happened
	Unavailable                 // 503 with Retry-After, no effect
	ConnectionRefused           // the connection could not be made: no effect
	QuotaExceeded               // 403 "exceeded quota", no effect
	WebhookDenied               // 403 of an admission webhook, no effect
	// another client edits the object just before the call, which then succeeds, or gets 409 if it names a version
	TouchedByAnother
	ReplacedByAnother // another client just before replaces the object by a new one of the same name
	CopiedByAnother   // another client just before creates a similar object, named NAME-copy
	faultKinds
)

var faultNames = [faultKinds]string{
	"none", "timeout-before", "timeout-after", "timeout-late", "too-many-requests", "server-error", "server-error-after",
	"unavailable", "connection-refused", "quota", "webhook", "touched", "replaced", "copied",
}

func (k FaultKind) String() string { return faultNames[k] }

// Fault is what goes wrong with one call. The zero value means nothing goes wrong.
type Fault struct {
	Kind       FaultKind
	RetryAfter time.Duration // of TooManyRequests and Unavailable: the Retry-After header, in whole seconds
	Delay      time.Duration // of TimeoutLate: the time until the effect
}

// refusal returns the error of a fault that prevents the effect of a call; nil for all other faults.
func (f Fault) refusal(c Call) error {
	switch f.Kind {
	case TooManyRequests:
		return apierrors.NewTooManyRequests("the server has received too many requests and has asked us to try again later", int(f.RetryAfter/time.Second))
	case ServerError:
		return errServer
	case Unavailable:
		err := apierrors.NewServiceUnavailable("apiserver is shutting down")
		err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(f.RetryAfter / time.Second)}
		return err
	case ConnectionRefused:
		return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case QuotaExceeded:
		return apierrors.NewForbidden(c.Kind.resource(), c.Name, fmt.Errorf("exceeded quota: sim, requested: %s=1, used: %s=10, limited: %s=10", c.Kind, c.Kind, c.Kind))
	case WebhookDenied:
		return apierrors.NewForbidden(c.Kind.resource(), c.Name, fmt.Errorf("admission webhook \"policy.sim.jobledger.dev\" denied the request: not today"))
	case TimeoutBefore, TimeoutLate:
		return timedOut(c)
	}
	return nil
}

// hidden returns the error of a fault by which the call takes effect but the caller gets an error; nil for all other
// faults.
func (f Fault) hidden(c Call) error {
	switch f.Kind {
	case TimeoutAfter:
		return timedOut(c)
	case ServerErrorAfter:
		return errServer
	}
	return nil
}

// errServer is the answer to a call with ServerError: 500.
var errServer = apierrors.NewInternalError(errText("etcdserver: leader changed"))

// timedOut returns the error that a client gets if no answer arrives.
func timedOut(c Call) error { return fmt.Errorf("%s %s: %w", c.Verb, c.Kind, context.DeadlineExceeded) }

// fits reports whether a fault can happen to a call. A fault by which effect and answer differ needs a call that
// writes, and so does a webhook. A quota refuses only creates. Another client can interfere only with an object that
// exists.
func (k FaultKind) fits(c Call) bool {
	read := c.Verb == "get" || c.Verb == "list"
	switch k {
	case TimeoutAfter, TimeoutLate, ServerErrorAfter, WebhookDenied:
		return !read
	case QuotaExceeded:
		return c.Verb == "create"
	case TouchedByAnother, ReplacedByAnother, CopiedByAnother:
		return !read && c.Verb != "create"
	}
	return true
}

// Rates has the probabilities of kinds of faults; a missing kind never happens. Their sum should be at most 1. With
// {ServerError: 0.1} every tenth call gets a 500, on average.
type Rates map[FaultKind]float64

// SeededFaults returns a function for [Client.Faults] that chooses a fault for each call at random, from rng. Delays
// and Retry-After are at most maxWait.
func SeededFaults(rng *rand.Rand, rates Rates, maxWait time.Duration) func(Call) Fault {
	return func(c Call) Fault {
		draw := rng.Float64()
		for kind := NoFault + 1; kind < faultKinds; kind++ {
			if draw -= rates[kind]; draw >= 0 {
				continue
			}
			if !kind.fits(c) {
				return Fault{}
			}
			wait := time.Duration(1+rng.Int64N(max(1, int64(maxWait/time.Second)))) * time.Second
			return Fault{Kind: kind, RetryAfter: wait, Delay: wait}
		}
		return Fault{}
	}
}
