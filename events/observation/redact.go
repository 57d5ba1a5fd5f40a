package observation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Redacted replaces a value in the log that may be a secret.
const Redacted = "(redacted)"

// redacted returns a copy of a template without values that may be secret: environment values, commands, arguments,
// headers, annotation values and free-form volume options. A marker takes the place of each. Names, images, resources,
// ports and references to other objects stay.
func redacted(t *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	t = t.DeepCopy()
	hideValues(t.Annotations)
	for i := range t.Spec.InitContainers {
		hideContainer(&t.Spec.InitContainers[i])
	}
	for i := range t.Spec.Containers {
		hideContainer(&t.Spec.Containers[i])
	}
	t.Spec.EphemeralContainers = nil // the API refuses them in a template
	for i := range t.Spec.Volumes {
		hideVolume(&t.Spec.Volumes[i].VolumeSource)
	}
	if sc := t.Spec.SecurityContext; sc != nil {
		hideWindows(sc.WindowsOptions)
	}
	return t
}

func hideContainer(c *corev1.Container) {
	hideAll(c.Command)
	hideAll(c.Args)
	for i := range c.Env {
		hide(&c.Env[i].Value)
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil {
			hideExec(p.Exec)
			hideHTTP(p.HTTPGet)
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil {
				hideExec(h.Exec)
				hideHTTP(h.HTTPGet)
			}
		}
	}
	if c.SecurityContext != nil {
		hideWindows(c.SecurityContext.WindowsOptions)
	}
}

func hideExec(a *corev1.ExecAction) {
	if a != nil {
		hideAll(a.Command)
	}
}

func hideHTTP(a *corev1.HTTPGetAction) {
	if a == nil {
		return
	}
	hide(&a.Path) // a query may contain a token
	for i := range a.HTTPHeaders {
		hide(&a.HTTPHeaders[i].Value)
	}
}

func hideWindows(w *corev1.WindowsSecurityContextOptions) {
	if w != nil && w.GMSACredentialSpec != nil {
		hidden := Redacted
		w.GMSACredentialSpec = &hidden
	}
}

func hideVolume(v *corev1.VolumeSource) {
	if v.CSI != nil {
		hideValues(v.CSI.VolumeAttributes)
	}
	if v.FlexVolume != nil {
		hideValues(v.FlexVolume.Options)
	}
	if v.AzureDisk != nil {
		hide(&v.AzureDisk.DataDiskURI) // such a URI contains a shared access signature
	}
	if v.GitRepo != nil {
		hide(&v.GitRepo.Repository) // the URL may contain a password
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		m := &v.Ephemeral.VolumeClaimTemplate.ObjectMeta
		hideValues(m.Annotations)
		*m = metav1.ObjectMeta{Labels: m.Labels, Annotations: m.Annotations}
	}
	if v.Projected != nil {
		for i := range v.Projected.Sources {
			if c := v.Projected.Sources[i].PodCertificate; c != nil {
				hideValues(c.UserAnnotations)
			}
		}
	}
}

func hide(s *string) {
	if *s != "" {
		*s = Redacted
	}
}

func hideAll(list []string) {
	for i := range list {
		hide(&list[i])
	}
}

func hideValues(m map[string]string) {
	for k, v := range m {
		hide(&v)
		m[k] = v
	}
}
