package rules

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/check"
)

// rankProgram compares the metadata of one name between two ranks: each finds the name, and rank 1 sends what it has to rank 0.
func rankProgram(r check.Rule, key string, v check.Violation, facts map[string]string) string {
	what, name, _ := strings.Cut(key, " ")
	if what == "control" || what == "performance" {
		_, name, _ = strings.Cut(name, " ")
	}
	if k := strings.LastIndexByte(name, ':'); what == "performance" && k > 0 {
		name = name[:k]
	}
	var get string
	const common = "MPI_T_%s_get_info(i, name, &len, %sdesc, &desc_len, %s)"
	vars := "&mine[0], %s(MPI_Datatype *)&type, &enumtype, "
	switch what {
	case "control":
		get = fmt.Sprintf(common, "cvar", fmt.Sprintf(vars, ""), "&mine[1], &mine[2]")
	case "performance":
		get = fmt.Sprintf(common, "pvar", fmt.Sprintf(vars, "&mine[6], "), "&mine[1], &mine[2], &mine[3], &mine[4]")
	case "category":
		get = fmt.Sprintf(common, "category", "", "&mine[0], &mine[1], &mine[2]")
	case "event":
		get = fmt.Sprintf(common[:strings.Index(common, "%sdesc")], "event") + "&mine[0], types, displacements, &mine[2], &enumtype, &info, desc, &desc_len, &mine[1])"
	default: // an enumeration: of a control variable that has it
		get = fmt.Sprintf(common, "cvar", fmt.Sprintf(vars, ""), "&unused, &unused")
	}
	kind := map[string]string{"event": "event", "control": "cvar", "performance": "pvar", "category": "category", "enumeration": "cvar"}[what]
	lines := []string{
		"struct { int numbers[8]; char desc[2048], enumeration[1024]; } shared[2];",
		"int *mine = shared[0].numbers, num = 0, rank = 0, rc, provided, unused = 0;",
		"MPI_Datatype type = MPI_DATATYPE_NULL; MPI_T_enum enumtype = MPI_T_ENUM_NULL; (void)unused, (void)type, (void)enumtype;",
		"memset(shared, 0, sizeof shared);",
		"CALL(rc, MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided));",
		"CALL(rc, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));",
		"MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
		fmt.Sprintf("MPI_T_%s_get_num(&num);", kind),
		"for (int i = 0; i < num; i++) {",
		"    char name[1024] = \"\", desc[2048] = \"\"; int len = sizeof name, desc_len = sizeof desc;",
		"    if (" + get + " != MPI_SUCCESS) continue;",
	}
	if what == "event" {
		lines = slices.Insert(lines, len(lines)-1, "    MPI_Datatype types[64]; MPI_Aint displacements[64]; MPI_Info info; mine[2] = 64;")
	}
	if what == "enumeration" {
		lines = append(lines, "    if (enumtype == MPI_T_ENUM_NULL) continue;", "    int items = 0; len = sizeof name; MPI_T_enum_get_info(enumtype, &items, name, &len);")
	}
	lines = append(lines, fmt.Sprintf("    if (strcmp(name, %s) != 0) continue;", check.Quote(name)))
	if what == "enumeration" {
		lines = append(lines, "    mine[0] = items;", "    break;", "}")
	} else {
		if what != "category" && what != "event" {
			lines = append(lines, "    int of_enum = sizeof shared[0].enumeration;", "    if (enumtype != MPI_T_ENUM_NULL) MPI_T_enum_get_info(enumtype, &unused, shared[0].enumeration, &of_enum);")
		}
		lines = append(lines, "    mine[7] = 1; strcpy(shared[0].desc, desc);", "    memcpy(&mine[5], &type, sizeof(int)); /* its low bytes, which differ between datatypes */", "    break;", "}")
	}
	lines = append(lines,
		"if (rank == 1) MPI_Send(&shared[0], (int)sizeof shared[0], MPI_BYTE, 0, 0, MPI_COMM_WORLD);",
		"if (rank == 0) MPI_Recv(&shared[1], (int)sizeof shared[1], MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
		"int same = rank != 0 || memcmp(&shared[0], &shared[1], sizeof shared[0]) == 0;",
		"MPI_Finalize();")
	p := check.Program{Rule: r, Library: facts["version"] + " (MPI " + facts["standard"] + ")", Item: key, Expected: v.Expected, Got: v.Got, Lines: lines, Kept: "same", Ranks: 2}
	return p.String()
}
