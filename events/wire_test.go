package events_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

func ptr[T any](v T) *T { return &v }

var samples = []events.Record{
	{Header: header(1, events.Controller, events.KindLogCreated), Facts: &events.LogCreated{LogID: "ab", Epoch: 1, Format: 1}},
	{Header: header(2, events.Controller, events.KindControllerStarted), Facts: &events.ControllerStarted{
		Version: "v0", RulesVersion: 1, Settings: events.DefaultSettings(), ZoneData: "2026a",
	}},
	{Header: header(3, events.Controller, events.KindListingStarted), Facts: &events.ListingStarted{
		Reason: events.ListingStart, Resources: []events.Resource{events.Jobs, events.Pods}, LastSeen: 5, LastVersions: []uint64{0, 7},
	}},
	{Header: header(4, events.Controller, events.KindSynced), Facts: &events.Synced{
		Resources: []events.Resource{events.Pods}, Versions: []uint64{9},
	}},
	{Header: header(5, events.JobStream("u1"), events.KindJobAdded), Facts: &events.JobSeen{
		Version: 12, Generation: 1, Created: 1e9, Managed: true, ManagedBy: events.ManagedBy, Spec: "5eec", SpecAt: 4,
		Status: &events.JobStatus{
			Active: 1, Ready: events.Unset, Terminating: 0, FailedIndexes: ptr(""), HasUncounted: true,
			UncountedFailed: []types.UID{"p1"}, StartTime: 3e9,
			Conditions: []events.JobCondition{{Type: "FailureTarget", Status: "True", Reason: "r", Message: "m", Since: 1, Probed: 2}},
		},
	}, Evidence: events.Evidence{Namespace: "ns", Name: "demo"}},
	{Header: header(6, events.JobStream("u1"), events.KindSpecStored), Facts: &events.JobSpec{
		Hash: "5eec", Parallelism: ptr(int32(2)), Completions: ptr(int32(0)), CompletionMode: "Indexed", Template: "7e",
		Redacted: "7ed", Policies: "901",
	}},
	{Header: header(7, events.JobStream("u1"), events.KindPodChanged), Facts: &events.PodSeen{
		UID: "p1", Version: 8, Phase: events.PodFailed, Created: 2e9, Tracked: true, Owner: "u1", Selected: true,
		Index: 0, Ordinal: 3, Exits: []events.ContainerExit{{Name: "main", Code: -3}},
		Conditions: []events.PodCondition{{Type: "DisruptionTarget", Status: "True"}},
	}, Evidence: events.Evidence{Name: "demo-0", Containers: []events.ContainerEnd{{Name: "main", ExitCode: -3, Message: "boom"}}}},
	{Header: header(8, events.JobStream("u1"), events.KindDecided), Facts: &events.Decision{RulesVersion: 1, Steps: []events.Step{
		{Stage: "pods", Rule: "create", Reason: "MorePodsWanted", Sentence: "two are wanted", Commands: []events.Command{
			&events.CreatePod{Ordinal: 4, Index: events.NoIndex, Template: "7e"},
			&events.DeletePod{Pod: "p1"}, &events.DropFinalizer{Pod: "p1"}, &events.AdoptPod{Pod: "p2"},
			&events.ReleasePod{Pod: "p2"}, &events.ReadJob{}, &events.ReadPod{Ordinal: 2, Index: 5},
			&events.Withdraw{Command: events.CommandID{Decided: 3, Place: 1}},
		}},
		{Stage: "status", Rule: "write", Reason: "Progress", Commands: []events.Command{&events.WriteStatus{
			Base: 12, Change: events.StatusChange{Active: ptr(int32(0)), AddFailed: []types.UID{"p1"}, CompleteIndexes: "1-3",
				Conditions: []events.JobCondition{{Type: "Complete", Status: "True", Message: "done"}}},
		}}},
	}}},
	{Header: header(9, events.JobStream("u1"), events.KindCommandEnded), Facts: &events.CommandEnded{
		Command: events.CommandID{Decided: 8, Place: 0}, Ending: events.Refused, Class: events.RefusedQuota, RetryAfter: 5, Sent: true,
	}, Evidence: events.Evidence{Message: "exceeded quota"}},
	{Header: header(10, events.JobStream("u1"), 999), Facts: &events.Unknown{Bytes: []byte{1, 2}}},
	{Header: header(11, events.JobStream("u1"), events.KindTemplateStored), Facts: &events.JobTemplate{Hash: "7ed", Size: 2},
		Evidence: events.Evidence{Template: []byte(`{}`)}},
	{Header: header(12, events.JobStream("u1"), events.KindPoliciesStored), Facts: &events.JobPolicies{
		Hash: "901", Selector: `{}`, PodFailurePolicy: `{"rules":[]}`, SuccessPolicy: `{"rules":null}`,
	}},
}

func header(s events.Sequence, stream events.Stream, kind events.Kind) events.Header {
	return events.Header{
		Sequence: s, Time: 1e18 + events.Time(s), Stream: stream, Previous: s - 1, Causes: []events.Sequence{s},
		Kind: kind, Critical: kind.Critical(), Last: s%2 == 0,
	}
}

func TestARecordSurvivesStorage(t *testing.T) {
	for _, want := range samples {
		want.FactsSalt, want.EvidenceSalt = events.Salt{1}, events.Salt{}
		stored, err := events.AppendRecord(nil, &want)
		if err != nil {
			t.Fatalf("%s: %v", want.Kind, err)
		}
		got, err := events.DecodeRecord(stored)
		if err != nil {
			t.Fatalf("%s: %v", want.Kind, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Kind, diff)
		}
		again, err := events.AppendRecord(nil, &got)
		if err != nil || !bytes.Equal(stored, again) {
			t.Errorf("%s encodes to other bytes the second time (%v)", want.Kind, err)
		}
		h, err := events.DecodeHeader(stored)
		if err != nil || !reflect.DeepEqual(h, want.Header) {
			t.Errorf("%s: header %+v, %v; want %+v", want.Kind, h, err, want.Header)
		}
	}
}

func TestErasedEvidenceLeavesTheChainAsItWas(t *testing.T) {
	for _, r := range samples {
		r.FactsSalt, r.EvidenceSalt = events.Salt{1}, events.Salt{2}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		erased, err := events.EraseEvidence(stored)
		if err != nil {
			t.Fatal(err)
		}
		before, err1 := events.Hash{7}.Next(stored)
		after, err2 := events.Hash{7}.Next(erased)
		if err1 != nil || err2 != nil || before != after {
			t.Errorf("%s: chain %s before, %s after (%v, %v)", r.Kind, before, after, err1, err2)
		}
		got, err := events.DecodeRecord(erased)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Evidence, events.Evidence{}) {
			t.Errorf("%s keeps evidence %+v", r.Kind, got.Evidence)
		}
		want, _ := events.EncodeFacts(r.Facts)
		kept, _ := events.EncodeFacts(got.Facts)
		if !bytes.Equal(want, kept) {
			t.Errorf("%s: erasing evidence changed the facts", r.Kind)
		}
		if again, err := events.AppendRecord(nil, &got); err != nil || !bytes.Equal(again, erased) {
			t.Errorf("%s: without evidence it is stored otherwise the second time (%v)", r.Kind, err)
		}
	}
}

func TestEveryByteOfARecordIsUnderTheChain(t *testing.T) {
	r := samples[6]
	r.FactsSalt, r.EvidenceSalt = events.Salt{1}, events.Salt{2}
	stored, err := events.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	want, err := events.Hash{}.Next(stored)
	if err != nil {
		t.Fatal(err)
	}
	for i := range stored {
		flipped := bytes.Clone(stored)
		flipped[i] ^= 1 << rand.N(8)
		if got, err := (events.Hash{}).Next(flipped); err == nil && got == want {
			t.Errorf("byte %d of %d can change unseen", i, len(stored))
		}
	}
}

func TestNoBytesMakeTheDecoderPanic(t *testing.T) {
	for _, r := range samples {
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			b := bytes.Clone(stored)
			b[rand.N(len(b))] = byte(rand.N(256))
			_, _ = events.DecodeRecord(b[:rand.N(len(b)+1)])
		}
	}
	if _, err := events.DecodeRecord(make([]byte, 64)); err == nil {
		t.Error("64 zero bytes decode as a record")
	}
}

func TestEveryUIDSurvivesStorage(t *testing.T) {
	for _, uid := range []types.UID{
		"", "x", "0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef", "01234567-89AB-cdef-0123-456789abcdef",
		"01234567-89ab-cdef-0123-456789abcdeg", "012345678-9ab-cdef-0123-456789abcdef", "\x00",
		"01-34-67-89ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-4567-9ab-def",
	} {
		r := samples[6]
		r.Stream = events.JobStream(uid)
		pod := *r.Facts.(*events.PodSeen)
		pod.UID, pod.Owner = uid, uid
		r.Facts = &pod
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := events.DecodeRecord(stored)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", uid, diff)
		}
	}
}
