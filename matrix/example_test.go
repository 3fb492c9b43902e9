package matrix_test

import (
	"fmt"

	"github.com/treeloss/treeloss/matrix"
)

// Two texts as counts of the words 0 to 4: rows hold what is not 0, in order.
func ExampleSparse() {
	m := &matrix.Sparse{Columns: 5}
	m.AppendRow([]int32{0, 3}, []float32{1, 2})
	m.AppendRow([]int32{1, 3, 4}, []float32{1, 1, 1})
	if err := m.Check(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%d rows, %d columns, inner product %v, cosine %.3f\n", m.Rows(), m.Cols(), matrix.Dot(m, 0, 1), matrix.Cosine(m, 0, 1))

	rows, counts := m.Transpose().Row(3)
	fmt.Println("word 3 is in rows", rows, "with counts", counts)

	m.AppendRow([]int32{7}, []float32{1})
	fmt.Println(m.Check())
	// Output:
	// 2 rows, 5 columns, inner product 2, cosine 0.516
	// word 3 is in rows [0 1] with counts [2 1]
	// matrix: row 2: column 7 after -1, want ascending columns below 5
}

// Dense rows lie one behind the other in Data.
func ExampleDense() {
	m := matrix.NewDense(2, 3)
	copy(m.Data, []float32{1, 2, 3, 4, 5, 6})
	fmt.Println(m.Row(1), m.SquaredNorm(0), m.Select([]int{1, 1}).Rows())
	// Output: [4 5 6] 14 2
}
