package kubewire

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// whole is a decoder for JSON: it decodes an object with all fields, and then reads it with a Resource, as if it came
// as protobuf.
type whole[O Object] struct {
	runtime.Serializer
	resource *Resource[O]
}

// Decode implements runtime.Decoder: it decodes an object, or a list of objects, from JSON.
func (w *whole[O]) Decode(data []byte, as *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	list, isList := into.(*List[O])
	o, gvk, err := w.Serializer.Decode(data, as, nil)
	if err != nil {
		return nil, gvk, err
	}
	if isList {
		read, gvk, err := w.resource.list(list, o, gvk)
		if err == nil && read == runtime.Object(list) {
			err = w.resource.sentItems(list.Items, data)
		}
		return read, gvk, err
	}
	read, err := w.resource.Object(o)
	if of, is := read.(O); is && err == nil && w.resource.sent != nil {
		err = w.resource.sent(of, data)
	}
	return read, gvk, err
}

// sentItems keeps in each object of a list the parts of its JSON that are needed later, for example to send it back.
// data is the JSON of the list.
func (r *Resource[O]) sentItems(items []O, data []byte) error {
	if r.sent == nil {
		return nil
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read a list of the API server: %w", err)
	}
	if len(list.Items) != len(items) {
		return fmt.Errorf("a list of the API server has %d objects, and %d were read: %w", len(list.Items), len(items), errUnexpected)
	}
	for i, o := range items {
		if err := r.sent(o, list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// Object returns the form of this package for an object, or for each object of a list. An object of another kind stays
// unchanged.
func (r *Resource[O]) Object(o runtime.Object) (runtime.Object, error) {
	if m, ok := r.of(o); ok {
		return r.Of(m)
	}
	if meta.IsListType(o) {
		list, _, err := r.list(&List[O]{}, o, nil)
		return list, err
	}
	return o, nil
}

// list fills to with the objects of the list from, in the form of this package.
func (r *Resource[O]) list(to *List[O], from runtime.Object, gvk *schema.GroupVersionKind) (runtime.Object, *schema.GroupVersionKind, error) {
	if !meta.IsListType(from) {
		return from, gvk, nil // the answer is no list, but a Status
	}
	about, err := meta.ListAccessor(from)
	if err != nil {
		return nil, gvk, err
	}
	to.ResourceVersion, to.Continue, to.RemainingItemCount = about.GetResourceVersion(), about.GetContinue(), about.GetRemainingItemCount()
	err = meta.EachListItem(from, func(item runtime.Object) error {
		m, ok := r.of(item)
		if !ok {
			return fmt.Errorf("a list of the API server holds a %T: %w", item, errUnexpected)
		}
		read, err := r.Of(m)
		to.Items = append(to.Items, read)
		return err
	})
	return to, gvk, err
}
