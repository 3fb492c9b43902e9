// Package matrix holds the two forms in which examples, class features and
// weights pass between packages: Sparse rows and Dense rows, both of float32.
//
// It has no arithmetic beyond what every package needs to look at its data;
// the hot loops live in internal/kernel.
package matrix

import (
	"fmt"
	"math"
)

// Float is an element type of the arrays that training works on: float32 in
// use, float64 where tests want to see an identity to ten digits.
type Float interface{ ~float32 | ~float64 }

// Matrix is a *Sparse or a *Dense.
type Matrix interface {
	Rows() int
	Cols() int
	// Check returns an error if the parts do not fit together or a value is
	// NaN or infinite.
	Check() error
	// SquaredNorm returns the sum of the squares of row i.
	SquaredNorm(i int) float64
	// Select returns a new matrix of the given rows, in that order.
	Select(rows []int) Matrix

	isMatrix()
}

// Sparse is a rows x cols matrix in compressed sparse rows: row i has the
// values Value[Start[i]:Start[i+1]] in the columns Index[Start[i]:Start[i+1]],
// ascending within a row. The zero value has no rows; set Columns and append.
type Sparse struct {
	Columns int
	Start   []int
	Index   []int32
	Value   []float32
}

func (*Sparse) isMatrix() {}

// Rows returns the number of rows.
func (m *Sparse) Rows() int { return max(len(m.Start)-1, 0) }

// Cols returns the number of columns.
func (m *Sparse) Cols() int { return m.Columns }

// Row returns the columns and values of row i; they alias the matrix.
func (m *Sparse) Row(i int) (index []int32, value []float32) {
	a, b := m.Start[i], m.Start[i+1]
	return m.Index[a:b:b], m.Value[a:b:b]
}

// AddRows adds to to, of Cols numbers, the rows of index, each times its value: the
// products of a sparse row with all rows of a matrix, of which m is the transpose.
func (m *Sparse) AddRows(to []float64, index []int32, value []float32) {
	for n, i := range index {
		columns, v := m.Row(int(i))
		for k, c := range columns {
			to[c] += float64(value[n]) * float64(v[k])
		}
	}
}

// AppendRow adds a row, copying both slices, whose columns must ascend.
func (m *Sparse) AppendRow(index []int32, value []float32) {
	if len(m.Start) == 0 {
		m.Start = append(m.Start, 0)
	}
	m.Index = append(m.Index, index...)
	m.Value = append(m.Value, value...)
	m.Start = append(m.Start, len(m.Index))
}

// SquaredNorm returns the sum of the squares of row i.
func (m *Sparse) SquaredNorm(i int) float64 {
	_, value := m.Row(i)
	return squaredNorm(value)
}

// Select returns a new matrix of the given rows, in that order.
func (m *Sparse) Select(rows []int) Matrix {
	values := 0
	for _, i := range rows {
		values += m.Start[i+1] - m.Start[i]
	}
	out := &Sparse{Columns: m.Columns, Start: make([]int, 1, len(rows)+1), Index: make([]int32, 0, values), Value: make([]float32, 0, values)}
	for _, i := range rows {
		out.AppendRow(m.Row(i))
	}
	return out
}

// Check returns an error if the parts do not fit together, columns do not
// ascend within a row, or a value is NaN or infinite.
func (m *Sparse) Check() error {
	if m.Columns < 0 {
		return fmt.Errorf("matrix: %d columns, want at least 0", m.Columns)
	}
	if len(m.Start) == 0 && len(m.Index) == 0 && len(m.Value) == 0 {
		return nil
	}
	if len(m.Index) != len(m.Value) || len(m.Start) == 0 || m.Start[0] != 0 || m.Start[len(m.Start)-1] != len(m.Index) {
		return fmt.Errorf("matrix: starts %s, %d indices and %d values do not make sparse rows; want a 0, the ends of the rows, and as many indices as values", ends(m.Start), len(m.Index), len(m.Value))
	}
	for i := range m.Rows() {
		if m.Start[i] > m.Start[i+1] || m.Start[i+1] > len(m.Index) {
			return fmt.Errorf("matrix: row %d of sparse rows starts at %d and ends at %d, want starts that ascend to %d", i, m.Start[i], m.Start[i+1], len(m.Index))
		}
		last := int32(-1)
		index, value := m.Row(i)
		for n, j := range index {
			if j <= last || int(j) >= m.Columns {
				return fmt.Errorf("matrix: row %d: column %d after %d, want ascending columns below %d", i, j, last, m.Columns)
			}
			last = j
			if !finite(value[n]) {
				return fmt.Errorf("matrix: row %d, column %d is %v, want a finite number", i, j, value[n])
			}
		}
	}
	return nil
}

// ends shows the first and last of a slice, which may be long.
func ends(x []int) string {
	if len(x) < 3 {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("[%d ... %d]", x[0], x[len(x)-1])
}

// Transpose returns the matrix with rows and columns exchanged, in O(values).
func (m *Sparse) Transpose() *Sparse {
	t := &Sparse{
		Columns: m.Rows(),
		Start:   make([]int, m.Columns+1),
		Index:   make([]int32, len(m.Index)),
		Value:   make([]float32, len(m.Value)),
	}
	for _, j := range m.Index {
		t.Start[j+1]++
	}
	for j := range m.Columns {
		t.Start[j+1] += t.Start[j]
	}
	next := append([]int(nil), t.Start[:m.Columns]...)
	for i := range m.Rows() {
		index, value := m.Row(i)
		for n, j := range index {
			t.Index[next[j]], t.Value[next[j]] = int32(i), value[n]
			next[j]++
		}
	}
	return t
}

// Dense is a matrix in row-major order: element (i, j) is Data[i*Columns+j].
type Dense struct {
	Columns int
	Data    []float32
}

// NewDense returns a rows x cols matrix of zeros.
func NewDense(rows, cols int) *Dense {
	return &Dense{Columns: cols, Data: make([]float32, rows*cols)}
}

func (*Dense) isMatrix() {}

// Rows returns the number of rows; a matrix without columns has none.
func (m *Dense) Rows() int {
	if m.Columns == 0 {
		return 0
	}
	return len(m.Data) / m.Columns
}

// Cols returns the number of columns.
func (m *Dense) Cols() int { return m.Columns }

// Row returns row i; it aliases the matrix.
func (m *Dense) Row(i int) []float32 {
	return m.Data[i*m.Columns : (i+1)*m.Columns : (i+1)*m.Columns]
}

// SquaredNorm returns the sum of the squares of row i.
func (m *Dense) SquaredNorm(i int) float64 { return squaredNorm(m.Row(i)) }

// Select returns a new matrix of the given rows, in that order.
func (m *Dense) Select(rows []int) Matrix {
	out := NewDense(len(rows), m.Columns)
	for n, i := range rows {
		copy(out.Row(n), m.Row(i))
	}
	return out
}

// Check returns an error if the data is no whole number of rows or a value is
// NaN or infinite.
func (m *Dense) Check() error {
	if m.Columns < 0 || m.Columns == 0 && len(m.Data) > 0 || m.Columns > 0 && len(m.Data)%m.Columns != 0 {
		return fmt.Errorf("matrix: %d values are no whole number of rows of %d columns", len(m.Data), m.Columns)
	}
	for n, v := range m.Data {
		if !finite(v) {
			return fmt.Errorf("matrix: row %d, column %d is %v, want a finite number", n/m.Columns, n%m.Columns, v)
		}
	}
	return nil
}

// squaredNorm returns the sum of the squares, in float64.
func squaredNorm(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// finite tells whether v is neither NaN nor infinite.
func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }
