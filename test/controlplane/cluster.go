package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/test/binaries"
)

// nodeAnnotation, with the value fake, marks nodes on which kwok simulates the kubelet.
const nodeAnnotation = "kwok.x-k8s.io/node"

// createNodes registers the nodes as a kubelet would: ready, and with room for any number of pods.
func (cp *ControlPlane) createNodes(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	for i := range cp.opts.Nodes {
		node := newNode(fmt.Sprintf("node-%d", i), cp.Version())
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", node.Name, err)
		}
	}
	return nil
}

// AddNode registers one more node of the same kind. change, if not nil, edits it first.
func (cp *ControlPlane) AddNode(ctx context.Context, name string, change func(*corev1.Node)) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	node := newNode(name, cp.Version())
	if change != nil {
		change(node)
	}
	if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create node %s: %w", name, err)
	}
	return nil
}

func newNode(name, version string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("100k"),
		corev1.ResourceMemory:           resource.MustParse("1Pi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Pi"),
		corev1.ResourcePods:             resource.MustParse("1M"),
	}
	now := metav1.Now()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{nodeAnnotation: "fake"},
			Labels:      map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
		},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			Addresses:   []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: name}},
			Conditions: []corev1.NodeCondition{{
				Type:               corev1.NodeReady,
				Status:             corev1.ConditionTrue,
				Reason:             "KubeletReady",
				LastHeartbeatTime:  now,
				LastTransitionTime: now,
			}},
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: version, OperatingSystem: "linux", Architecture: "amd64"},
		},
	}
}

// CreateNamespace creates a namespace whose name begins with prefix. It returns the name as soon as pods can be created
// in the namespace.
func (cp *ControlPlane) CreateNamespace(ctx context.Context, prefix string) (string, error) {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return "", err
	}
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create a namespace: %w", err)
	}
	return namespace.Name, cp.AwaitNamespace(ctx, namespace.Name)
}

// AwaitNamespace returns when pods can be created in a namespace. In a bare control plane that is at once.
func (cp *ControlPlane) AwaitNamespace(ctx context.Context, name string) error {
	if cp.opts.Bare {
		return nil
	}
	return cp.awaitServiceAccount(ctx, name)
}

// awaitServiceAccount returns when the namespace has its default ServiceAccount. Before that, pods are refused.
func (cp *ControlPlane) awaitServiceAccount(ctx context.Context, namespace string) error {
	client, err := kubernetes.NewForConfig(cp.RESTConfig())
	if err != nil {
		return err
	}
	p := cp.process(binaries.ControllerManager)
	return cp.await(ctx, "the default ServiceAccount of namespace "+namespace, p, func() (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if ctx.Err() != nil {
			return false, nil // ctx has ended: the caller's error says more than the failed request
		}
		return err == nil, err
	})
}
