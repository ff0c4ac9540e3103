package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// What a front has its runner do must not get lost in a runner that is older and
// does not know a setting yet: such a runner refuses. So that it need not do so
// where the setting is not used, settings with their zero value are left out.

// encodeSettings makes an object of the members of a struct that are not zero, at
// any depth.
func encodeSettings(s Server) json.RawMessage {
	text, err := json.Marshal(sparse(reflect.ValueOf(s)))
	if err != nil {
		panic(err) // plain data always has an encoding
	}
	return text
}

func sparse(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
				members[f.Name] = sparse(v.Field(i))
			}
		}
		return members
	case reflect.Slice:
		all := make([]any, v.Len())
		for i := range all {
			all[i] = sparse(v.Index(i))
		}
		return all
	case reflect.Pointer:
		return sparse(v.Elem())
	default:
		return v.Interface()
	}
}

// decodeSettings refuses what this version does not know; the error says so in
// words for people.
func decodeSettings(text json.RawMessage) (s Server, err error) {
	if text == nil {
		return s, errors.New("it does not say what to serve")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&s)
	if err == nil {
		return s, nil
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return s, fmt.Errorf("it uses a setting that this runner does not know, %s", name)
	}
	return s, fmt.Errorf("its settings are not understood: %w", err)
}
