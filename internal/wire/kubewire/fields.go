package kubewire

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fields reads the fields of a protobuf message one by one, in the order of its bytes.
type fields struct {
	rest   []byte
	number protowire.Number
	bytes  []byte // value of a text, a message or bytes; shares memory with the whole message
	value  uint64 // value of a number
}

// next reads the next field. It returns false if the message has ended or *err is set; if the field is invalid, it
// also sets *err.
func (f *fields) next(err *error) bool {
	b := f.rest
	if len(b) == 0 || *err != nil {
		return false
	}
	tag, n := uint64(b[0]), 1
	if tag >= 1<<7 {
		if tag, n = protowire.ConsumeVarint(b); n < 0 {
			*err = malformed(n)
			return false
		}
	}
	b = b[n:]
	f.number, f.bytes, f.value = protowire.Number(tag>>3), nil, 0
	switch kind := protowire.Type(tag & 7); kind {
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(b)
	default:
		n = protowire.ConsumeFieldValue(f.number, kind, b)
	}
	if n < 0 {
		*err = malformed(n)
		return false
	}
	f.rest = b[n:]
	return true
}

func malformed(n int) error {
	return fmt.Errorf("read an object of the API server: %w", protowire.ParseError(n))
}

// text returns the value of the field as a string.
func (f *fields) text() string { return string(f.bytes) }

// known returns the value of the field as a string. For strings that nearly all objects have it allocates no memory.
func (f *fields) known() string { return known(f.bytes) }

func known(b []byte) string {
	if s, ok := usual[string(b)]; ok {
		return s
	}
	return string(b)
}

// usual has strings that nearly all pods or Jobs have. Each is allocated only once.
var usual = func() map[string]string {
	all := map[string]string{}
	for _, s := range []string{
		"True", "False", "Pending", "Running", "Succeeded", "Failed", "Ready", "Initialized", "ContainersReady", "PodScheduled",
		"PodReadyToStartContainers", "PodCompleted", "Completed", "Error", "ContainersNotReady", "ContainerCreating", "PodInitializing",
		"Complete", "SuccessCriteriaMet", "FailureTarget", "CompletionsReached",
		"Job", "CronJob", "batch/v1", "batch.kubernetes.io/job-tracking", "jobledger.dev/job-tracking", "main",
		"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name", "app",
		"batch.kubernetes.io/job-completion-index", "Apply", "Update", "status", "kube-controller-manager", "jobledger",
	} {
		all[s] = s
	}
	return all
}()

// flag returns the value of the field as a pointer to a bool.
func flag(f *fields) *bool {
	is := f.value != 0
	return &is
}

// number returns the value of the field as a pointer to a number.
func number[N int32 | int64](f *fields) *N {
	n := N(f.value)
	return &n
}

// time returns the value of the field as a time in whole seconds, as client-go does.
func (f *fields) time(err *error) (t metav1.Time) {
	if len(f.bytes) == 0 {
		return t
	}
	var seconds int64
	for in := (fields{rest: f.bytes}); in.next(err); {
		if in.number == 1 {
			seconds = int64(in.value)
		}
	}
	return metav1.Time{Time: time.Unix(seconds, 0).Local()}
}

// pair returns the value of the field as a key and a value. A map in protobuf is a list of such pairs.
func (f *fields) pair(err *error) (key, value []byte) {
	for in := (fields{rest: f.bytes}); in.next(err); {
		switch in.number {
		case 1:
			key = in.bytes
		case 2:
			value = in.bytes
		}
	}
	return key, value
}
