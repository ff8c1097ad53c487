/* table.h: the preprocessor makes table.go of it: cpp -P -I../tools/tally table.h */
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
