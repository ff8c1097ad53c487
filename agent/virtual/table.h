/* table.h: the preprocessor makes table.go of it: cpp -P -I../tools/tally -I../node table.h */
package virtual
import "mpitx/catalog"
var table = []definition{
#define X(name, class, field, kinds, traffic, wants, own, onlyTotal, description) \
    {#name, class, #field, []string{kinds}, []string{traffic}, onlyTotal, description},
#define COUNTER catalog.ClassCounter
#define TIMER catalog.ClassTimer
#define AGGREGATE catalog.ClassAggregate
#define LEVEL catalog.ClassLevel
#define AND +
#define KIND(kind) #kind,
#define ALL_KINDS
#define NO_KIND "",
#define CARRIES(traffic) #traffic,
#define ANY_TRAFFIC
#include "variables.h"
}
var ofProcess = []nodeDefinition{
#define NODE(name, class, unit, description) {#name, class, unit, description},
#include "names.h"
}
var ofInterface = []nodeDefinition{
#define INTERFACE(name, class, column, description) {#name, class, "", description},
#include "names.h"
}
var ofPort = []nodeDefinition{
#define PORT(name, class, file, bits, scale, description) {#name, class, "", description},
#include "names.h"
}
