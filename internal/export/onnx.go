package export

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/softmax"
)

// The graph of a model, in the operators of ONNX's opset 13:
//
//	columns (N x p) -> Cast, Sub, Mul, Clip, Cast -> z -> MatMul, Add, Cos, Mul -> Concat with z
//	features (N x d) -> Gemm with W and b -> scores -> calibration -> Softmax -> probabilities (N x k)
//
// or, of a model of several labels an example, scores -> Sigmoid -> probabilities
//
// The first line is for numeric columns alone. Calibrated scores are divided by the
// temperature T and, where it depends on how sure the row is, multiplied by
// scale (-log(1 - p))^power, p the largest probability at T.
//
// onnx.proto is written by hand with protowire, as the ten messages that a graph needs are
// less than a generated package of all; field numbers are those of github.com/onnx/onnx.
const (
	opset     = 13
	irVersion = 8 // of the file format, the oldest that has opset 13 and 14

	typeFloat  = 1
	typeDouble = 11

	maxWeights = 1<<29 - 1<<20 // a protobuf message has at most 2 GB: 4 bytes each, with room for the rest

	inputFeatures = "features"
	inputColumns  = "columns"
	outputName    = "probabilities"
)

// message is an encoded protobuf message: a tag and a value for each field. Numbers of a list
// are written one by one and not packed, which readers accept, too.
type message []byte

func (m *message) bytes(field protowire.Number, value []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), value)
}

func (m *message) text(field protowire.Number, value string) { m.bytes(field, []byte(value)) }

func (m *message) number(field protowire.Number, value int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(value))
}

// graph is a GraphProto in the making.
type graph struct {
	nodes, initializers []message
	m                   *softmax.Model
}

// node adds an operator and returns its output, which has the name of the first use.
func (g *graph) node(op, output string, inputs []string, attributes ...message) string {
	var n message
	for _, in := range inputs {
		n.text(1, in)
	}
	n.text(2, output)
	n.text(3, output)
	n.text(4, op)
	for _, a := range attributes {
		n.bytes(5, a)
	}
	g.nodes = append(g.nodes, n)
	return output
}

// integer is an attribute of a node.
func integer(name string, value int) message { return attribute(name, 3, value, 2) }

// integers is an attribute that is a list of one number.
func integers(name string, value int) message { return attribute(name, 8, value, 7) }

// attribute is an AttributeProto whose value stands in a field, of type INT (2) or INTS (7).
func attribute(name string, field protowire.Number, value, kind int) message {
	var a message
	a.text(1, name)
	a.number(field, value)
	a.number(20, kind)
	return a
}

// constant adds a TensorProto and returns its name. Data are raw_data, little-endian.
func constant[T float32 | float64](g *graph, name string, x []T, shape ...int) string {
	var t message
	for _, n := range shape {
		t.number(1, n)
	}
	kind, data := typeFloat, safetensors.New("", x, len(x)).Data
	if _, wide := any(x).([]float64); wide {
		kind = typeDouble
	}
	t.number(2, kind)
	t.text(8, name)
	t.bytes(9, data)
	g.initializers = append(g.initializers, t)
	return name
}

// scalar adds a tensor without dimensions.
func scalar[T float32 | float64](g *graph, name string, x T) string {
	return constant(g, name, []T{x})
}

// value describes an input or an output of N rows: a ValueInfoProto of float32, whose first
// dimension has a name in place of a number, as it may be any.
func value(name string, columns int) message {
	dim := func(write func(d *message)) (d message) { write(&d); return d }
	var shape, tensor, kind, v message
	shape.bytes(1, dim(func(d *message) { d.text(2, "N") }))
	shape.bytes(1, dim(func(d *message) { d.number(1, columns) }))
	tensor.number(1, typeFloat)
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	v.text(1, name)
	v.bytes(2, kind)
	return v
}

// standardised adds what makes features of columns:
//
//	z = clip((x - mean) scale)        row = [z, sqrt(2 p / D) cos(z Directionᵀ + phase)]
//
// with D random Fourier features (Rahimi and Recht 2007), if there are any. z is computed in
// float64 and then rounded, as package feature does: columns such as times in seconds lose
// their difference from the mean in float32.
func (g *graph) standardised(c *contract) string {
	p := len(c.Columns)
	x := g.node("Cast", "columns_wide", []string{inputColumns}, integer("to", typeDouble))
	x = g.node("Sub", "centred", []string{x, constant(g, "mean", c.Mean, p)})
	x = g.node("Mul", "deviations", []string{x, constant(g, "scale", c.Scale, p)})
	x = g.node("Clip", "clipped", []string{x, scalar(g, "least", -1e6), scalar(g, "most", 1e6)})
	z := g.node("Cast", "z", []string{x}, integer("to", typeFloat))
	if len(c.Phase) == 0 {
		return z
	}
	n := len(c.Phase)
	across := make([]float32, len(c.Direction)) // columns x n
	for i := range n {
		for j := range p {
			across[j*n+i] = c.Direction[i*p+j]
		}
	}
	x = g.node("MatMul", "projected", []string{z, constant(g, "direction", across, p, n)})
	x = g.node("Add", "angle", []string{x, constant(g, "phase", c.Phase, n)})
	x = g.node("Cos", "waves", []string{x})
	x = g.node("Mul", "fourier", []string{x, scalar(g, "fourier_scale", float32(math.Sqrt(2*float64(p)/float64(n))))})
	return g.node("Concat", "row", []string{z, x}, integer("axis", 1))
}

// calibrated adds what calibration does to scores; see decide.Calibration. The clip keeps the
// logarithm finite where p is rounded to 1.
func (g *graph) calibrated(scores string) string {
	c := g.m.Training.Calibration
	if c == nil {
		return scores
	}
	tempered := g.node("Div", "tempered", []string{scores, scalar(g, "temperature", float32(c.Temperature))})
	if c.ConfidenceScale == 0 {
		return tempered
	}
	x := g.node("Softmax", "first_probabilities", []string{tempered}, integer("axis", 1))
	x = g.node("ReduceMax", "largest", []string{x}, integers("axes", 1), integer("keepdims", 1))
	x = g.node("Clip", "bounded", []string{x, scalar(g, "doubt", float32(1e-6)), scalar(g, "certainty", float32(1-1e-6))})
	x = g.node("Sub", "rest", []string{scalar(g, "one", float32(1)), x})
	x = g.node("Log", "log_rest", []string{x})
	x = g.node("Neg", "sureness", []string{x})
	x = g.node("Pow", "power_of_sureness", []string{x, scalar(g, "power", float32(c.ConfidencePower))})
	x = g.node("Mul", "factor", []string{x, scalar(g, "confidence_scale", float32(c.ConfidenceScale))})
	return g.node("Mul", "calibrated", []string{tempered, x})
}

// writeONNX writes a ModelProto, which it makes in memory, from the inside out: a message
// needs the length of those in it. The weights are there three times at most.
func writeONNX(w io.Writer, m *softmax.Model, c *contract) error {
	if n := int64(len(m.Layer.Bias)) * int64(m.Layer.Features); n > maxWeights {
		return fmt.Errorf("%d weights, and a file of ONNX has at most 2 GB; write npy", n)
	}
	g := &graph{m: m}
	in, width, features := inputFeatures, m.Layer.Features, inputFeatures
	if len(c.Columns) > 0 {
		in, width = inputColumns, len(c.Columns)
		features = g.standardised(c)
	}
	k := m.Layer.Outputs()
	scores := g.node("Gemm", "scores", []string{features, constant(g, "weight", m.Layer.Dense(), m.Layer.Features, k), constant(g, "bias", m.Layer.Bias, k)})
	if m.Layer.Sigmoid {
		g.node("Sigmoid", outputName, []string{scores})
	} else {
		g.node("Softmax", outputName, []string{g.calibrated(scores)}, integer("axis", 1))
	}

	var body, version, out message
	for _, n := range g.nodes {
		body.bytes(1, n)
	}
	body.text(2, "treeloss")
	for _, t := range g.initializers {
		body.bytes(5, t)
	}
	body.bytes(11, value(in, width))
	body.bytes(12, value(outputName, k))
	version.text(1, "")
	version.number(2, opset)
	out.number(1, irVersion)
	out.text(2, "treeloss")
	out.bytes(7, body)
	out.bytes(8, version)
	labels, err := json.Marshal(m.Labels)
	if err != nil {
		return err
	}
	for _, pair := range [][2]string{{"labels", string(labels)}, {"kind", c.Kind}} {
		var p message
		p.text(1, pair[0])
		p.text(2, pair[1])
		out.bytes(14, p)
	}
	_, err = w.Write(out)
	return err
}
