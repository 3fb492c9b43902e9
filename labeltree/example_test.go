package labeltree_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/treeloss/treeloss/labeltree"
)

// figure1 is the left half of the paper's figure 1.
func figure1() labeltree.Nested {
	leaf := func(label string) labeltree.Nested { return labeltree.Nested{Label: label} }
	return labeltree.Nested{Label: "truck", Children: []labeltree.Nested{
		{Label: "boxer", Children: []labeltree.Nested{
			leaf("tiger"),
			leaf("skunk"),
			{Label: "boxer", Children: []labeltree.Nested{
				leaf("bulldog"), leaf("boxer"), leaf("husky"), leaf("sheepdog"),
			}},
			leaf("bear"),
		}},
		{Label: "truck", Children: []labeltree.Nested{leaf("truck"), leaf("bus")}},
		leaf("toaster"),
	}}
}

// The paths of Section 3 of the paper, in both variants.
func ExampleFromNested() {
	for _, kind := range []labeltree.Kind{labeltree.UTree, labeltree.VTree} {
		t, err := labeltree.FromNested(figure1(), kind)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v of %d classes, %d nodes\n", kind, t.Classes(), t.Len())
		for _, label := range []string{"bear", "sheepdog", "truck"} {
			path, err := t.PathNames(label)
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("P_%s = (%s)\n", label, strings.Join(path, ", "))
		}
	}
	// Output:
	// u-tree of 10 classes, 10 nodes
	// P_bear = (bear, boxer, truck)
	// P_sheepdog = (sheepdog, boxer, truck)
	// P_truck = (truck)
	// v-tree of 10 classes, 14 nodes
	// P_bear = (bear, pseudo2, pseudo1)
	// P_sheepdog = (sheepdog, pseudo3, pseudo2, pseudo1)
	// P_truck = (truck, pseudo4, pseudo1)
}

func ExampleTree_WriteText() {
	t, err := labeltree.FromNested(figure1(), labeltree.VTree)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := t.WriteText(os.Stdout, labeltree.TextOptions{MaxDepth: 2, MaxChildren: 3}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// (pseudo1)
	// ├── (pseudo2)
	// │   ├── tiger
	// │   ├── skunk
	// │   ├── (pseudo3) … 4 classes
	// │   └── … 1 more
	// ├── (pseudo4)
	// │   ├── truck
	// │   └── bus
	// └── toaster
}

func ExampleTree_WriteDOT() {
	t, err := labeltree.FromParents(map[string]string{"husky": "dog", "boxer": "dog"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := t.WriteDOT(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph "treeloss-tree" {
	//   rankdir=LR;
	//   node [shape=box];
	//   n0 [label="dog", shape=ellipse, style=dashed];
	//   n1 [label="boxer", class="0"];
	//   n0 -> n1;
	//   n2 [label="husky", class="1"];
	//   n0 -> n2;
	// }
}

func ExampleReadTaxonomy() {
	taxonomy := `label,parent
bulldog,dog
husky,dog
dog,animal
bear,animal
bus,vehicle
car,vehicle
`
	labels := []string{"bulldog", "husky", "bear", "bus", "car", "dog"}
	t, err := labeltree.ReadTaxonomy(strings.NewReader(taxonomy), "taxonomy.csv", labels)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := t.WriteText(os.Stdout, labeltree.TextOptions{}); err != nil {
		fmt.Println(err)
	}
	_, err = labeltree.ReadTaxonomy(strings.NewReader(taxonomy+"husky,pet\n"), "taxonomy.csv", labels)
	fmt.Println(err)
	// Output:
	// (root)
	// ├── (animal)
	// │   ├── (dog (group))
	// │   │   ├── dog
	// │   │   ├── bulldog
	// │   │   └── husky
	// │   └── bear
	// └── (vehicle)
	//     ├── bus
	//     └── car
	// taxonomy.csv:8: "husky" has two parents, "dog" (line 3) and "pet"; keep one
}

// One taxonomy in three more forms, read over the same labels.
func ExampleReadTaxonomy_forms() {
	for _, taxonomy := range []string{
		"animal/dog/husky\nanimal/dog/boxer\nanimal/cat\nvehicle/bus\n",
		`{"animal": {"dog": ["husky", "boxer"], "cat": null}, "vehicle": ["bus"]}`,
		"(((husky,boxer)dog,cat)animal,(bus)vehicle);",
	} {
		t, err := labeltree.ReadTaxonomy(strings.NewReader(taxonomy), "taxonomy", []string{"boxer", "bus", "cat", "husky"})
		if err != nil {
			fmt.Println(err)
			return
		}
		path, err := t.PathNames("husky")
		fmt.Println(t.Len(), path[:2], err)
	}
	// Output:
	// 7 [husky dog] <nil>
	// 7 [husky dog] <nil>
	// 7 [husky dog] <nil>
}
