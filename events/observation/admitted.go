package observation

import (
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// Limits for the list of fields that admission changed: mostAdmitted is the number of fields reported for one pod.
const (
	mostAdmitted = 16
	maxAdmitted  = 128 // bytes of one name
	maxImage     = 128 // bytes of an image in a name
)

// admittedLocked returns the fields in which a new pod differs from the pod template of its Job, in the form of
// events.Evidence.Admitted. It returns nil if they are the same fields as for the Job's previous pod. It also returns
// nil if the spec of the Job is unknown, or if the pod already has a node.
func (feed *Feed) admittedLocked(pod *kubewire.Pod) []string {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || pod.Spec.NodeName != "" {
		return nil
	}
	job := feed.jobs.known[owner.UID]
	if job == nil || job.spec == nil {
		return nil
	}
	print := pod.Spec.Print()
	if print == job.print && !job.unsaid {
		return nil // equal to the pod compared before it, so there is nothing new to report
	}
	job.print = print
	names, ok := job.spec.compare(&pod.Spec, print)
	if !ok {
		return nil
	}
	text := strings.Join(names, "\n")
	if text == job.admitted && !job.unsaid {
		return nil
	}
	job.admitted, job.unsaid = text, false
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// comparison is the result of comparing a Job's pod template with a pod: names are the fields that differ.
type comparison struct {
	print uint64 // fingerprint of the pod's spec; 0 for none
	names []string
}

// compare returns the fields in which a pod with this fingerprint differs from the template. ok is false when one of
// the two cannot be decoded.
func (s *specSeen) compare(pod *kubewire.PodSpec, print uint64) (names []string, ok bool) {
	if s.admitted.print == print && print != 0 {
		return s.admitted.names, true
	}
	template, spec := batchv1.JobSpec{}, corev1.PodSpec{}
	if template.Unmarshal(s.sent) != nil || spec.Unmarshal(pod.Whole) != nil {
		return nil, false
	}
	s.admitted = comparison{print, admitted(&template.Template.Spec, &spec)}
	return s.admitted.names, true
}

// admitted returns the names of the fields in which a pod's spec differs from the template. It ignores the fields that
// every API server and every Job controller fills in. It shows values only of images: they often explain a failure, and
// the stored templates contain them too.
func admitted(template, pod *corev1.PodSpec) []string {
	d := differences{}
	d.structs("", reflect.ValueOf(usual(template, template)), reflect.ValueOf(usual(pod, template)))
	slices.Sort(d.names)
	names := slices.Compact(d.names)
	if len(names) > mostAdmitted {
		names = append(names[:mostAdmitted-1], "…")
	}
	return names
}

// Names that the API server's own admission plugins add to a pod.
const (
	tokenVolume     = kubewire.TokenVolume
	tokenMount      = kubewire.TokenMount
	indexVariable   = kubewire.IndexVariable
	usualServiceAcc = "default"
)

// usual returns a copy of a pod's spec without the fields that API servers and Job controllers fill in for every pod of
// this template.
func usual(spec, template *corev1.PodSpec) corev1.PodSpec {
	s := *spec
	s.NodeName, s.Hostname, s.DeprecatedServiceAccount, s.SchedulingGroup, s.EphemeralContainers = "", "", "", nil, nil
	// Admission fills these fields in from the priority class and the runtime class
	s.Priority, s.PreemptionPolicy, s.Overhead = nil, nil, nil
	if template.EnableServiceLinks == nil {
		s.EnableServiceLinks = nil
	}
	if template.ServiceAccountName == "" && s.ServiceAccountName == usualServiceAcc {
		s.ServiceAccountName = ""
	}
	if len(template.ImagePullSecrets) == 0 {
		s.ImagePullSecrets = nil // the template names none, so admission copied those of the service account
	}
	s.Tolerations = without(s.Tolerations, func(t *corev1.Toleration) bool {
		return (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable) && t.Effect == corev1.TaintEffectNoExecute
	})
	s.Volumes = without(s.Volumes, func(v *corev1.Volume) bool { return strings.HasPrefix(v.Name, tokenVolume) })
	s.InitContainers = usualContainers(s.InitContainers)
	s.Containers = usualContainers(s.Containers)
	return s
}

func usualContainers(list []corev1.Container) []corev1.Container {
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		c.VolumeMounts = without(c.VolumeMounts, func(m *corev1.VolumeMount) bool { return m.MountPath == tokenMount })
		c.Env = without(c.Env, func(v *corev1.EnvVar) bool { return v.Name == indexVariable })
		if len(c.Resources.Limits) == 0 {
			continue
		}
		requests := corev1.ResourceList{} // as the API server does: a limit without a request becomes the request
		for name, n := range c.Resources.Limits {
			requests[name] = n
		}
		for name, n := range c.Resources.Requests {
			requests[name] = n
		}
		c.Resources.Requests = requests
	}
	return list
}

// without returns a copy of list without the elements that drop selects.
func without[E any](list []E, drop func(*E) bool) []E {
	return slices.DeleteFunc(slices.Clone(list), func(e E) bool { return drop(&e) })
}

// differences collects the names of the fields in which two values differ.
type differences struct{ names []string }

func (d *differences) add(sign, path string) {
	d.names = append(d.names, bounded(sign+path, maxAdmitted))
}

// structs compares two structs of one type field by field.
func (d *differences) structs(path string, a, b reflect.Value) {
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		if name == "" { // an embedded struct
			d.structs(path, a.Field(i), b.Field(i))
			continue
		}
		d.values(join(path, name), a.Field(i), b.Field(i))
	}
}

// values compares two values of a field. It recurses into structs and into lists whose elements have names.
func (d *differences) values(path string, a, b reflect.Value) {
	if equality.Semantic.DeepEqual(a.Interface(), b.Interface()) {
		return
	}
	switch kind := a.Kind(); {
	case kind == reflect.Struct:
		d.structs(path, a, b)
		return
	case kind == reflect.Slice && named(a.Type().Elem()):
		d.lists(path, a, b)
		return
	case kind == reflect.Pointer && !a.IsNil() && !b.IsNil() && a.Elem().Kind() == reflect.Struct:
		d.structs(path, a.Elem(), b.Elem())
		return
	}
	switch {
	case a.IsZero():
		d.add("+", path)
	case b.IsZero():
		d.add("-", path)
	case strings.HasSuffix(path, "].image"):
		d.names = append(d.names, bounded(path, maxAdmitted)+" "+bounded(a.String(), maxImage)+" → "+bounded(b.String(), maxImage))
	default:
		d.add("", path)
	}
}

// named reports whether t is a struct type with a field Name.
func named(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	_, is := t.FieldByName("Name")
	return is
}

// lists compares two lists whose elements have names.
func (d *differences) lists(path string, a, b reflect.Value) {
	find := func(list reflect.Value, name string) reflect.Value {
		for i := range list.Len() {
			if e := list.Index(i); e.FieldByName("Name").String() == name {
				return e
			}
		}
		return reflect.Value{}
	}
	for i := range b.Len() {
		name := b.Index(i).FieldByName("Name").String()
		in := path + "[" + name + "]"
		if was := find(a, name); was.IsValid() {
			d.values(in, was, b.Index(i))
		} else {
			d.add("+", in)
		}
	}
	for i := range a.Len() {
		if name := a.Index(i).FieldByName("Name").String(); !find(b, name).IsValid() {
			d.add("-", path+"["+name+"]")
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
