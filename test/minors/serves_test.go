package minors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

// serves is what a server really does, found by requests.
type serves struct {
	version  string
	dropped  map[string]bool // fields of a Job's spec, by their names
	streams  bool            // it streams lists as watches
	mutating bool            // it takes deploy/policy/mutating.yaml
	gangs    bool            // it has the objects of --gang-scheduling
}

func (s serves) String() string {
	var dropped []string
	for _, field := range slices.Sorted(maps.Keys(s.dropped)) {
		if s.dropped[field] {
			dropped = append(dropped, field)
		}
	}
	return fmt.Sprintf("drops %v, streams lists %t, takes mutating.yaml %t, has the objects of gangs %t", dropped, s.streams, s.mutating, s.gangs)
}

// look tests the server. Each field is tried in its own Job.
func (s *server) look() serves {
	s.Helper()
	info, err := s.client.Discovery().ServerVersion()
	if err != nil {
		s.Fatal(err)
	}
	found := serves{version: info.GitVersion, dropped: map[string]bool{}, streams: s.streams(), mutating: s.takesMutating(), gangs: s.hasGangs()}
	for field, try := range map[string]struct {
		set  option
		kept func(*batchv1.JobSpec) bool
	}{
		"managedBy":            {func(j *batchv1.Job) { j.Spec.ManagedBy = new(events.ManagedBy) }, func(s *batchv1.JobSpec) bool { return s.ManagedBy != nil }},
		"podReplacementPolicy": {replaceFailed, func(s *batchv1.JobSpec) bool { return s.PodReplacementPolicy != nil }},
		"successPolicy":        {anyTwo, func(s *batchv1.JobSpec) bool { return s.SuccessPolicy != nil }},
		"backoffLimitPerIndex": {perIndex, func(s *batchv1.JobSpec) bool { return s.BackoffLimitPerIndex != nil && s.MaxFailedIndexes != nil }},
	} {
		made, err := s.client.BatchV1().Jobs("default").Create(s.ctx, newJob("try", try.set), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			s.Fatal(err)
		}
		found.dropped[field] = !try.kept(&made.Spec)
	}
	return found
}

// streams requests a list as a watch, and reads it up to the bookmark that ends it.
func (s *server) streams() bool {
	s.Helper()
	answer, err := s.client.BatchV1().RESTClient().Get().AbsPath("/apis/batch/v1/jobs").Param("watch", "true").Param("sendInitialEvents", "true").
		Param("resourceVersionMatch", "NotOlderThan").Param("allowWatchBookmarks", "true").Param("timeoutSeconds", "20").Stream(s.ctx)
	if apierrors.IsInvalid(err) {
		return false
	}
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Close()
	for events := json.NewDecoder(answer); ; {
		var e struct {
			Type   string
			Object struct{ Metadata metav1.ObjectMeta }
		}
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			s.Fatal("a list as a watch has no end")
		} else if err != nil {
			s.Fatal(err)
		}
		if e.Type == "BOOKMARK" && e.Object.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			return true
		}
	}
}

// takesMutating tries to create the objects of the file.
func (s *server) takesMutating() bool {
	s.Helper()
	objects, err := deployed.File("policy/mutating.yaml")
	if err != nil || len(objects) == 0 {
		s.Fatal(len(objects), err)
	}
	for i := range objects {
		body, err := objects[i].MarshalJSON()
		if err != nil {
			s.Fatal(err)
		}
		path := "/apis/" + objects[i].GetAPIVersion() + "/" + plural(objects[i].GetKind())
		err = s.client.BatchV1().RESTClient().Post().AbsPath(path).Param("dryRun", "All").SetHeader("Content-Type", "application/json").Body(body).Do(s.ctx).Error()
		if apierrors.IsNotFound(err) {
			return false
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	return true
}

// plural returns the resource of a kind of the policies.
func plural(kind string) string {
	if word, ok := strings.CutSuffix(strings.ToLower(kind), "y"); ok {
		return word + "ies"
	}
	return strings.ToLower(kind) + "s"
}

func (s *server) hasGangs() bool {
	s.Helper()
	_, err := s.client.Discovery().ServerResourcesForGroupVersion("scheduling.k8s.io/v1alpha2")
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
	return err == nil
}
