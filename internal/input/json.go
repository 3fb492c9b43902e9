package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// JSON returns an error of encoding/json in a user's words: the byte at which a text ends
// being JSON, or the field that is of another kind, and of which. Other errors stay. It is
// for a file of another program, which nobody reads by eye; InWords for one that a user wrote.
func JSON(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if strings.HasPrefix(e.Error(), "unexpected end") {
			return errors.New("the JSON ends early")
		}
		return fmt.Errorf("not JSON at byte %d", e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := "the value"
		if e.Field != "" {
			field = fmt.Sprintf("%q", e.Field)
		}
		return fmt.Errorf("%s is %s", field, mismatch(e))
	}
	switch text := err.Error(); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends early")
	case strings.HasPrefix(text, "json: unknown field "):
		return fmt.Errorf("the field %s is not supported", strings.TrimPrefix(text, "json: unknown field "))
	case strings.HasPrefix(text, "json: "):
		return errors.New(strings.TrimPrefix(text, "json: "))
	}
	return err
}

// mismatch says what a value is, and what was wanted: "a text, want a list".
func mismatch(e *json.UnmarshalTypeError) string {
	return jsonKind(e.Value) + ", want " + goKind(e.Type)
}

// jsonKind is a kind of JSON's, such as "number 1.5", in words.
func jsonKind(value string) string {
	switch kind, rest, _ := strings.Cut(value, " "); kind {
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "number":
		if rest != "" {
			return rest
		}
		return "a number"
	}
	return value
}

// goKind is what a type of Go takes of JSON, in words.
func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return goKind(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number that fits" // 1e999 is none
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a text in base64"
		}
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "a whole number that fits"
}
