package acting

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

// KubeNamespace returns the namespace of a kubeconfig's context; empty without a kubeconfig. Empty arguments stand for
// what kubectl would use.
func KubeNamespace(kubeconfig, context string) (string, error) {
	loader, err := kubeconfigOf(kubeconfig, context)
	if err != nil {
		return "", err
	}
	namespace, _, err := loader.Namespace()
	if clientcmd.IsEmptyConfig(err) {
		return "", nil // not an error, because reading a log needs no cluster
	}
	if err != nil {
		return "", fmt.Errorf("find out the namespace of the kubeconfig (-n names one): %w", err)
	}
	return namespace, nil
}

// kubeconfigOf returns the kubeconfig at path. If path is empty, it is the one of $KUBECONFIG, and otherwise the one in
// the home directory.
func kubeconfigOf(path, context string) (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	named := filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	named = slices.DeleteFunc(named, func(file string) bool { return file == "" })
	missing := 0
	for _, file := range named {
		if _, err := os.Stat(file); os.IsNotExist(err) {
			missing++
		}
	}
	if path == "" && missing > 0 && missing == len(named) {
		return nil, fmt.Errorf("$%s names %s, and there is no such file", clientcmd.RecommendedConfigPathEnvVar, strings.Join(named, " and "))
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context}), nil
}

// knownContext returns an error if the kubeconfig does not have the context named; the error lists the contexts that it
// has. Other errors of a kubeconfig appear when the client connects.
func knownContext(loader clientcmd.ClientConfig, named string) error {
	config, err := loader.RawConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	if len(config.Contexts) == 0 {
		return nil
	}
	files := loader.ConfigAccess().GetLoadingPrecedence()
	files = slices.DeleteFunc(slices.Clone(files), func(file string) bool { _, err := os.Stat(file); return err != nil })
	there := fmt.Sprintf("the kubeconfig (%s) has %s", strings.Join(files, ", "), strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", "))
	switch {
	case named == "" && config.CurrentContext == "":
		return fmt.Errorf("no current context is set: choose one with --context; %s", there)
	case named == "" && config.Contexts[config.CurrentContext] == nil:
		return fmt.Errorf("there is no context %q, which the kubeconfig names as the current one: choose another with --context; %s", config.CurrentContext, there)
	case named != "" && config.Contexts[named] == nil:
		return fmt.Errorf("--context=%s: there is no such context; %s", named, there)
	}
	return nil
}
