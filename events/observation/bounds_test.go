package observation

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// manyContainers returns a pod with n failed containers, each with a long message and its own code.
func manyContainers(n int) *corev1.Pod {
	return testPod("p", func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodFailed
		for i := range n {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: fmt.Sprintf("c%d", i), State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: int32(i % 200), Reason: "Error", Message: strings.Repeat("m", 5000),
				}},
			})
		}
	})
}

// TestAPodOfManyContainersIsBounded: the record of a pod does not grow with its containers, and says how many it leaves
// out. It keeps the exit codes that a failure policy can read.
func TestAPodOfManyContainersIsBounded(t *testing.T) {
	read, err := kubewire.Pods.Of(manyContainers(3000))
	if err != nil {
		t.Fatal(err)
	}
	f := readPod(read, 7, events.Identity{})
	f.seen.Exits = deciding(f.seen.Exits, []string{"c2999", "c2500"})
	weight := events.Weight(&events.Record{Facts: &f.seen, Evidence: f.evidence})
	if weight > 40<<10 {
		t.Errorf("it takes %d bytes of log", weight)
	}
	last := f.evidence.Containers[len(f.evidence.Containers)-1]
	if len(f.evidence.Containers) != maxContainers+1 || last.Message != "2936 more containers ended" {
		t.Errorf("%d containers are told, the last of them %+v", len(f.evidence.Containers), last)
	}
	names := map[string]bool{}
	for _, x := range f.seen.Exits {
		names[x.Name] = true
	}
	if len(f.seen.Exits) != maxExits+2 || !names["c1"] || !names["c2500"] || !names["c2999"] {
		t.Errorf("%d exits: %v", len(f.seen.Exits), f.seen.Exits)
	}
	few, err := kubewire.Pods.Of(manyContainers(3))
	if err != nil {
		t.Fatal(err)
	}
	whole := readPod(few, 7, events.Identity{})
	if len(whole.evidence.Containers) != 3 || len(deciding(whole.seen.Exits, nil)) != 2 || len(whole.evidence.Containers[2].Message) < 4000 {
		t.Errorf("of three containers: %+v", whole.evidence.Containers)
	}
}

// TestReferencesAreBounded: users write owner references, and the API server takes a UID of any length.
func TestReferencesAreBounded(t *testing.T) {
	long := strings.Repeat("u", 1<<20)
	owned := func(kind, version string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: long, UID: types.UID(long), Controller: new(true)}
	}
	pod := testPod("p", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{owned("Job", "batch/v1")}
		p.Annotations = map[string]string{events.CommandAnnotation: "0f0f.1/" + long + "/7"}
	})
	read, err := kubewire.Pods.Of(pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range []types.UID{"", types.UID(long)} {
		if owner == "" {
			read.OwnerReferences = nil
		} else {
			read.OwnerReferences = []metav1.OwnerReference{owned("Job", "batch/v1")}
		}
		f := readPod(read, 7, events.Identity{LogID: "0f0f", Epoch: 1})
		size := len(f.seen.Owner) + len(f.seen.Maker) + len(f.owner.Name) + len(f.owner.UID) + len(f.claim.Job)
		if size == 0 || size > 4*maxName {
			t.Errorf("a pod's references have %d bytes", size)
		}
	}
	job := &kubewire.Job{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owned("CronJob", batchv1.SchemeGroupVersion.String())}}}
	if o := originOf(job, nil); len(o.UID) > maxUID || len(o.Name) > maxName {
		t.Errorf("a Job's origin has a UID of %d bytes, a name of %d", len(o.UID), len(o.Name))
	}
	feed := &Feed{cronJobs: &cronJobs{}}
	if uid := feed.cronJobOf(job); uid == "" || len(uid) > maxUID {
		t.Errorf("its CronJob has a UID of %d bytes", len(uid))
	}
}
