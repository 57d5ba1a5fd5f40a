package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	charts "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// release is the name of the Helm release as which the manifests in deploy/ are rendered.
const release = "jobledger"

// base has the chart values for deploy/base that differ from the chart's defaults.
const base = "createNamespace: true\n"

// features maps a template of the chart to the values that enable it. The objects of such a template go into a
// directory of their own, such as deploy/ttl.
var features = map[string]string{
	"watch-cluster":     "",
	"ttl":               "manage: all\n",
	"cronjobs":          "manage: all\n",
	"gang":              "gangScheduling: true\n",
	"metrics-authorize": "metrics: {authorize: true, tlsSecret: any}\n",
}

// kustomization is the kustomization.yaml of a feature's directory, so that an overlay can list the directory as a
// resource.
const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- clusterrole.yaml
- clusterrolebinding.yaml
`

// manifests renders the chart, and returns the files of deploy/ that come from it, by their paths below deploy/.
func manifests(chart string) (map[string]string, error) {
	files := map[string]string{}
	rendered, err := render(chart, release, base)
	if err != nil {
		return nil, err
	}
	for name, text := range rendered {
		if _, apart := features[strings.TrimSuffix(name, ".yaml")]; !apart {
			files[filepath.Join("base", name)] = text
		}
	}
	for _, o := range overlays {
		if files[o.file], err = o.render(chart); err != nil {
			return nil, err
		}
	}
	for feature, values := range features {
		rendered, err := render(chart, release, values)
		if err != nil {
			return nil, err
		}
		text, ok := rendered[feature+".yaml"]
		if !ok {
			return nil, fmt.Errorf("with %q the chart has no template %s.yaml", values, feature)
		}
		role, binding, ok := strings.Cut(text, "---\n")
		if !ok {
			return nil, fmt.Errorf("%s.yaml has no binding", feature)
		}
		files[filepath.Join(feature, "clusterrole.yaml")] = role
		files[filepath.Join(feature, "clusterrolebinding.yaml")] = binding
		files[filepath.Join(feature, "kustomization.yaml")] = kustomization
	}
	return files, nil
}

// image is the name of the image in the manifests. kustomize replaces it.
const image = "jobledger"

// render returns the objects of the chart by the names of their templates; empty ones are left out. name is the name
// of the release and of its namespace. If values name no image, the constant image is used.
func render(dir, name, values string) (map[string]string, error) {
	set, err := valuesWithImage(values)
	if err != nil {
		return nil, err
	}
	return renderWith(dir, name, set)
}

func valuesWithImage(values string) (common.Values, error) {
	set, err := common.ReadValues([]byte(values))
	if err != nil {
		return nil, fmt.Errorf("read values: %w", err)
	}
	of, ok := set["image"].(map[string]any)
	if !ok {
		of = map[string]any{}
		set["image"] = of
	}
	if of["repository"] == nil {
		of["repository"] = image
	}
	return set, nil
}

// renderWith returns the rendered chart, with the chart's own values and those of set, as for a first install.
func renderWith(dir, name string, set common.Values) (map[string]string, error) {
	return renderBy(engine.Render, dir, name, set)
}

// renderBy does what renderWith does, with the template engine by. Tests pass an engine that finds existing objects
// in a cluster.
func renderBy(
	by func(charts.Charter, common.Values) (map[string]string, error), dir, name string, set common.Values,
) (map[string]string, error) {
	loaded, err := loader.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	all, err := util.ToRenderValues(loaded, set, common.ReleaseOptions{Name: name, Namespace: name, IsInstall: true, Revision: 1}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	texts, err := by(loaded, all)
	if err != nil {
		return nil, fmt.Errorf("render the chart: %w", err)
	}
	files := map[string]string{}
	for name, text := range texts {
		if text = strings.TrimSpace(text); text != "" && strings.HasSuffix(name, ".yaml") {
			files[filepath.Base(name)] = text + "\n"
		}
	}
	return files, nil
}

// overlay is a file below deploy/overlays that is rendered from one template of the chart. The values are those of the
// file values.yaml in its directory.
type overlay struct {
	file     string // path of the file in deploy/
	template string
	base     string // values in addition to values.yaml
}

// overlays lists all files below deploy/overlays that are rendered from the chart. The overlay named namespace consists
// of rights only, because its controller has no rights outside of its namespace. The other files have the objects that
// an overlay adds to deploy/base.
var overlays = []overlay{
	{"overlays/namespace/rights.yaml", "namespaced.yaml", ""},
	{"overlays/drill/cronjob.yaml", "drill.yaml", base},
	{"overlays/reader/reader.yaml", "reader.yaml", base},
	{"overlays/ha/ha.yaml", "ha.yaml", base},
	{"overlays/ha-nats/ha.yaml", "ha.yaml", base},
	{"overlays/nats-log/ha.yaml", "ha.yaml", base},
}

func (o *overlay) render(chart string) (string, error) {
	values, err := os.ReadFile(filepath.Join(filepath.Dir(chart), filepath.Dir(o.file), "values.yaml"))
	if err != nil {
		return "", err
	}
	rendered, err := render(chart, release, o.base+string(values))
	return rendered[o.template], err
}
