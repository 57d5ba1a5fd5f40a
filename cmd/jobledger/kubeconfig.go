//go:build !reader

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

// namespaceOfKubeconfig is that of the kubeconfig's current context; empty without a kubeconfig.
func namespaceOfKubeconfig() (string, error) {
	loader, err := kubeconfigOf("", "")
	if err != nil {
		return "", err
	}
	namespace, _, err := loader.Namespace()
	if clientcmd.IsEmptyConfig(err) {
		return "", nil // a log can be read far from any cluster
	}
	if err != nil {
		return "", fmt.Errorf("find out the namespace of the kubeconfig (-n names one): %w", err)
	}
	return namespace, nil
}

// kubeconfigOf reads the kubeconfig: the file of that path, else those of $KUBECONFIG, else the one in the home directory.
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
