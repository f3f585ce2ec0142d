/* Linker names made readable. This file has one name of each kind. tests/e2e/test_symbols.py
 * compares all public names of the fixtures with llvm-undname. */
#include <string.h>

#include "symbol/undecorate.h"
#include "test.h"

static const struct {
    const char *name, *brief, *full; /* NULL: stays decorated */
    bool x86;
} rows[] = {
    {"?f@ns@@YAHH@Z", "ns::f", "ns::f(int)", false},
    {"?f@C@@QEBAXXZ", "C::f", "C::f(void) const", false},
    {"??0?$vector@HV?$allocator@H@std@@@std@@QEAA@XZ",
     "std::vector<int,std::allocator<int> >::vector<int,std::allocator<int> >",
     "std::vector<int,std::allocator<int> >::vector<int,std::allocator<int> >(void)", false},
    {"??1C@@UEAA@XZ", "C::~C", "C::~C(void)", false},
    {"??BC@@QEBAHXZ", "C::operator int", "C::operator int(void) const", false},
    {"??_GC@@UEAAPEAXI@Z", "C::`scalar deleting destructor'",
     "C::`scalar deleting destructor'(unsigned int)", false},
    {"??2@YAPEAX_K@Z", "operator new", "operator new(unsigned __int64)", false},
    {"??$f@P6AXH@Z@ns@@YAXPEBDAEBU_X@@@Z", "ns::f<void (__cdecl*)(int)>",
     "ns::f<void (*)(int)>(char const *,_X const &)", false},
    {"?f@@YAXQAY03H@Z", "f", "f(int (* const)[4])", false},
    {"?g@?1??f@@YAXXZ@YAXXZ", "`f'::`2'::g", "`f(void)'::`2'::g(void)", false},
    {"?h@?A0x1234abcd@@YAXZZ", "`anonymous namespace'::h", "`anonymous namespace'::h(...)", false},
    {"??__Einitlocks@std@@YAXXZ", "`dynamic initializer for 'std::initlocks''",
     "`dynamic initializer for 'std::initlocks''(void)", false},
    /* results of functions and arguments of templates that are `auto`: clang-cl's, and MSVC's */
    {"??R<lambda_1>@@QEBA?A?<auto>@@H@Z", "<lambda_1>::operator()",
     "<lambda_1>::operator()(int) const", false},
    {"?f@@YA?A?<decltype-auto>@@XZ", "f", "f(void)", false},
    {"??__Finl@?1???R<lambda_0>@@QEBA?A?<auto>@@H@Z@YAXXZ",
     "`dynamic atexit destructor for '`<lambda_0>::operator()'::`2'::inl''",
     "`dynamic atexit destructor for '`<lambda_0>::operator()(int) const'::`2'::inl''(void)",
     false},
    {"?m@?$AV@$MD0HI@@@QEAAXXZ", "AV<120>::m", "AV<120>::m(void)", false},
    {"?m@?$AV@$M_J0?0@@QEAAXXZ", "AV<-1>::m", "AV<-1>::m(void)", false},
    {"?m@?$AV@$M$$T0A@@@QEAAXXZ", "AV<0>::m", "AV<0>::m(void)", false},
    {"?m@?$AV@$MPEAH1?y9@@3HA@@QEAAXXZ", "AV<&y9>::m", "AV<&y9>::m(void)", false},
    {"?m@?$AV@$MP8Cls@@EAAXXZ1?m@1@QEAAXXZ@@QEAAXXZ", "AV<&Cls::m>::m",
     "AV<&Cls::m(void)>::m(void)", false},
    {"?m@?$AV@$M_J?0@@QEAAXXZ", NULL, NULL, false},
    {"?f@@YA?A?auto@@XZ", NULL, NULL, false},
    {"?f@C@@W7EAAXXZ", "[thunk]:C::f`adjustor{8}'", "[thunk]:C::f`adjustor{8}' (void)", false},
    {"?f@ns@@$$FYMXXZ", "ns::f", "ns::f(void)", false}, /* C++/CLI */
    {"??0E@@$$FQE$AAM@P$AAVString@System@@@Z", "E::E", "E::E(System::String ^)", false},
    {"?main@@$$HYAHA$AAH@Z", "main", "main(int %)", false},
    {"??3@$$hYAXPEAX@Z", "operator delete", "operator delete(void *)", false}, /* arm64ec */
    {"#main", "main", "main", false},
    {"#_ZN2ns1fEi", "ns::f", "ns::f(int)", false},
    {"#", NULL, NULL, false},
    {"#5", NULL, NULL, false}, /* an export that has only a number */
    {"##main", NULL, NULL, false},
    {"f$exit_thunk$exit_thunk", NULL, NULL, false},
    {"#f$exit_thunk", "[thunk]:f`exit thunk'", "[thunk]:f`exit thunk'", false},
    {"?f@ns@@YAHH@Z$entry_thunk", "[thunk]:ns::f`entry thunk'", "[thunk]:ns::f(int)`entry thunk'",
     false},
    {"alloc::vec::Vec$LT$T$C$A$GT$::push", "alloc::vec::Vec<T,A>::push",
     "alloc::vec::Vec<T,A>::push", false},
    {"_$LT$core..fmt..Error$u20$as$u20$core..fmt..Debug$GT$::fmt",
     "<core::fmt::Error as core::fmt::Debug>::fmt", "<core::fmt::Error as core::fmt::Debug>::fmt",
     false},
    {"??__K_deg@@YAHO@Z", "operator \"\"_deg", "operator \"\"_deg(long double)", false},
    {"??$f@$1?g@@YAXXZ@@YAXXZ", "f<&g>", "f<&g(void)>(void)", false},
    {"??$f@$E?x@@3HA@@YAXXZ", "f<x>", "f<x>(void)", false},
    {"??__Fx@@YAXXZ", "`dynamic atexit destructor for 'x''",
     "`dynamic atexit destructor for 'x''(void)", false},
    {"?f@0@YAXXZ", "f::f", "f::f(void)", false},
    {"??$f@$0?0@@YAXXZ", "f<-1>", "f<-1>(void)", false},
    {"??$f@$$V@@YAXXZ", "f<>", "f<>(void)", false},
    {"?f@5@YAXXZ", NULL, NULL,
     false}, /* a name, a type, an operator and a kind that there are not */
    {"?f@@YAX0@Z", NULL, NULL, false},
    {"??__M@@YAXXZ", NULL, NULL, false},
    {"??$f@$R@@YAXXZ", NULL, NULL, false},
    {"_Zli4_dege", "operator\"\" _deg", "operator\"\" _deg(long double)", false},
    {"_Z1fIXaaLb1ELb0EEEvv", "f<true && false>", "void f<true && false>()", false},
    {"_Z1fI1AIXgtLi3ELi2EEEEvv", "f<A<(3 > 2)>>", "void f<A<(3 > 2)>>()", false},
    {"_Z1fI1AIXlsLi3ELi2EEEEvv", "f<A<3 << 2>>", "void f<A<3 << 2>>()", false},
    {"_ZN1AnaEm", "A::operator new[]", "A::operator new[](unsigned long)", false},
    {"_ZN1AdlEPv", "A::operator delete", "A::operator delete(void*)", false},
    {"_ZN1AawEv", "A::operator co_await", "A::operator co_await()", false},
    {"_ZNK1AcvT_IiEEv", "A::operator int<int>", "A::operator int<int>() const", false},
    {"_Z1gDTcl1fLi1EEE", "g", "g(decltype(f(1)))", false},
    {"_ZN1AixEi", "A::operator[]", "A::operator[](int)", false},
    {"_ZN1AclEv", "A::operator()", "A::operator()()", false},
    {"_ZN1AptEv", "A::operator->", "A::operator->()", false},
    {"_ZGIW3foo", "initializer for module foo", "initializer for module foo", false},
    {"_Z5riskyi.cold.1", "risky", "risky(int) (.cold.1)", false},
    {"_Z5twiceITk7IntegeriET_S0_", "twice<int>", "int twice<int>(int)", false}, /* C++20 */
    {"_Z1fITpTnDaJLi1EEEvv", "f<1>", "void f<1>()", false},
    {"_ZN1A1gIiEEvvQ1CIT_E", "A::g<int>", "void A::g<int>() requires C<T>", false},
    {"_ZN1AFeqERKS_S1_", "A::friend operator==", "A::friend operator==(A const&, A const&)", false},
    {"_ZZ3lamIiEDaT_ENKUlS0_E0_clIlEEDaS0_", "lam<int>(int)::'lambda0'(int)::operator()<long>",
     "auto auto lam<int>(int)::'lambda0'(int)::operator()<long>(int) const", false},
    {"_ZZ2lfvENK3$_0clIJilEEEDaDpT_", "lf()::$_0::operator()<int, long>",
     "auto lf()::$_0::operator()<int, long>(int, long) const", false}, /* libiberty's */
    {"_Z5getftIlEPFT_S0_ES0_", "getft<long>", "long (*getft<long>(long))(long)", false},
    {"_Z4getmIdEM1MKFiiET_", "getm<double>", "int (M::*getm<double>(double))(int) const", false},
    {"_ZZ3arrIdERA3_iT_E1a", "int (&arr<double>(double)) [3]::a",
     "int (&arr<double>(double)) [3]::a", false},
    {"_ZNK1AltIiEEbRKT_", "A::operator<<int>", "bool A::operator<<int>(int const&) const", false},
    {"_ZN1AcvPFviEEv", "A::operator void (*)(int)", "A::operator void (*)(int)()", false},
    {"_ZN5Casts8implicitILj4EEEvPN9enable_ifIXgeT_Li4EEvE4typeE", "Casts::implicit<4u>",
     "void Casts::implicit<4u>(enable_if<4u >= 4, void>::type*)", false},
    {"_ZN12_GLOBAL__N_13Hid2goEi", "(anonymous namespace)::Hid::go",
     "(anonymous namespace)::Hid::go(int)", false},
    {"_ZThn16_N1AD0Ev", "non-virtual thunk to A::~A", "non-virtual thunk to A::~A()", false},
    {"_ZGVZ1fvE1x", "guard variable for f()::x", "guard variable for f()::x", false},
    {"_ZTIFvvE", "typeinfo for void ()", "typeinfo for void ()", false},
    {"_ZN3std6vectorIiSaIiEE4pushEi", "std::vector<int, std::allocator<int>>::push",
     "std::vector<int, std::allocator<int>>::push(int)", false},
    {"?filt$0@0@f@@", "`f'::`1'::filt$0", "`f'::`1'::filt$0", false}, /* of clang */
    {"?fin$12@0@f@ns@@", "`ns::f'::`1'::fin$12", "`ns::f'::`1'::fin$12", false},
    {"?filt$0@1@f@@", NULL, NULL, false},
    {"?catch$3@?0?f@4HA", "`f'::`1'::catch$3", "`f'::`1'::catch$3", false},
    {"?dtor$2@?0??f@@YAXXZ@4HA", "`f'::`1'::dtor$2", "`f(void)'::`1'::dtor$2", false},
    {"??$?B$$A6AXH@Z@C@@QEBAP6AXH@ZXZ", "C::operator<void __cdecl(int)> void (__cdecl*)(int)",
     "C::operator<void (int)> void (*)(int)(void) const", false},
    {"??BC@@QEBAP6AXXZXZ", "C::operator void (__cdecl*)(void)",
     "C::operator void (*)(void)(void) const", false},
    {"?f@@$$FYMHP$01AP$AAVString@System@@@Z", "f", "f(cli::array<System::String ^ >^)", false},
    {"?f@@$$FYMXP$02EAH@Z", "f", "f(cli::array<int ,2>^)", false},
    {"?f@@$$FYMXP$00AH@Z", NULL, NULL, false}, /* an array without a dimension */
    {"?f@A@@$$FCMPE$AA__ZVGCHandle@@XZ", "A::f", "A::f(void)", false},
    {"?Sleep@@$$J0YAXK@Z", "Sleep", "Sleep(unsigned long)", false},
    {"?Uninitialized@D@@$$Q2HA", "D::Uninitialized", "D::Uninitialized", false},
    {"???__E?Done@D@@$$Q2HA@@YMXXZ@?A0xf62e0d43@@$$FYMXXZ", "`dynamic initializer for 'D::Done''",
     "`dynamic initializer for 'D::Done''(void)", false},
    {"??$f@$$$V@?$C@D@@SAPEADXZ", "C<char>::f<>", "C<char>::f<>(void)", false},
    {"??$?6D@std@@YAXPEBD@Z", "std::operator<<<char>", "std::operator<<<char>(char const *)",
     false},
    {"??$?BX@C@@QEBAPEAXXZ", "C::operator<void> void *", "C::operator<void> void *(void) const",
     false},
    {"??1?$P@$$BY0A@D@@QEAA@XZ", "P<char [0]>::~P<char [0]>", "P<char [0]>::~P<char [0]>(void)",
     false},
    {"??$f@PEAP6AXXZ@@YAPEAP6AXXZQEAP6AXXZ@Z", "f<void (__cdecl**)(void)>",
     "f<void (**)(void)>(void (** const)(void))", false},
    {"?f@@YAXPEAPEAP6AXXZQEBQ6AXXZ@Z", "f", "f(void (** *)(void),void (*const * const)(void))",
     false},
    {"??$f@W4E@@$$CBK@@YAXXZ", "f<enum E,unsigned long const >", "f<E,unsigned long const >(void)",
     false},
    {"??_B?1??make@C@@SAPEAV1@H@Z@51", "`C::make'::`2'::`local static guard'",
     "`C::make(int)'::`2'::`local static guard'{2}'", false},
    {"??_R0?AUbase@std@@@8", "std::base `RTTI Type Descriptor'", "std::base `RTTI Type Descriptor'",
     false},
    {"??_R0PEAD@8", "char * `RTTI Type Descriptor'", "char * `RTTI Type Descriptor'", false},
    {"??_R17?0A@EA@_Crt@std@@8", "std::_Crt::`RTTI Base Class Descriptor at (8,-1,0,64)'",
     "std::_Crt::`RTTI Base Class Descriptor at (8,-1,0,64)'", false},
    {"??_R2?$ctype@D@std@@8", "std::ctype<char>::`RTTI Base Class Array'",
     "std::ctype<char>::`RTTI Base Class Array'", false},
    {"??_R3D@@8", "D::`RTTI Class Hierarchy Descriptor'", "D::`RTTI Class Hierarchy Descriptor'",
     false},
    {"??_R4D@@6BB1@@@", "D::`RTTI Complete Object Locator'{for `B1'}",
     "D::`RTTI Complete Object Locator'{for `B1'}", false},
    {"??_R5D@@8", NULL, NULL, false},
    {"??_7type_info@@6B@", "type_info::`vftable'", "type_info::`vftable'", false},
    {"?x@@3HA", "x", "x", false},
    {"??_C@_05COLMCDPH@hello@", "`string'", "`string'", false},
    {"?f@@YAXPEAU1@@Z", NULL, NULL, false}, /* a back reference to nothing */
    {"?f@@YAHH@", NULL, NULL, false},
    {"?f@@YAHH@ZZ", NULL, NULL, false}, /* text after the name */
    {"?", NULL, NULL, false},
    {"??", NULL, NULL, false},
    {"main", NULL, NULL, false},
    {"_main", "main", "main", true},
    {"_main", NULL, NULL, false}, /* elsewhere the underscore is part of the name */
    {"_WinMain@16", "WinMain", "WinMain", true},
    {"@fast@8", "fast", "fast", true},
    {"__ZN2ns1fEi@4", "ns::f", "ns::f(int)", true},
    {"@_ZN2ns1fEi@4", "ns::f", "ns::f(int)", true},
    {"vector@@16", "vector", "vector", false},
    {"_ZN2ns1fEi", "ns::f", "ns::f(int)", false},
    {"_ZN4core3fmt9Formatter3new17h0123456789abcdefE", "core::fmt::Formatter::new",
     "core::fmt::Formatter::new", false},
    {"_D3app4mainFZv", "app.main", "app.main()", false},
    {"_D3app__T3maxTiZQhFNaNbiiZi", "app.max!(int).max", "app.max!(int).max(int, int)", false},
    {"__D3app4mainFZv", "app.main", "app.main()", true},
    {"_Dmain", NULL, NULL, false},
    {"_D3ap", NULL, NULL, false},
    {"__shapes_MOD_area", "shapes::area", "shapes::area", false},
    {"___shapes_MOD_area", "shapes::area", "shapes::area", true},
    {"___MOD_area", NULL, NULL, false},
    {"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example", "mycrate::example", false},
};

TEST(undecorate_is_right_or_leaves_the_name_alone)
{
    char out[UNDECORATED_BYTES];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const char *wants[] = {rows[i].brief, rows[i].full};
        for (int names = NAMES_SHORT; names <= NAMES_FULL; names++) {
            const char *want = wants[names] != NULL ? wants[names] : "";
            const size_t bytes =
                undecorate(rows[i].name, (enum symbol_names)names, rows[i].x86, out, sizeof out);
            CHECK_STR(out, want);
            CHECK_EQ(bytes, strlen(want));
        }
        CHECK_EQ(undecorate(rows[i].name, NAMES_DECORATED, rows[i].x86, out, sizeof out), 0);
    }
}

TEST(undecorate_does_not_write_past_its_buffer)
{
    char out[8] = "1234567";
    CHECK_EQ(undecorate("?longer_than_that@@YAXXZ", NAMES_SHORT, false, out, 4), 0);
    CHECK_MEM(out + 4, "567", 4);
}

static void undecorate_damaged(const uint8_t *data, size_t bytes, void *context)
{
    char name[512], out[UNDECORATED_BYTES];
    (void)context;
    if (bytes >= sizeof name)
        return;
    memcpy(name, data, bytes);
    name[bytes] = '\0';
    (void)undecorate(name, NAMES_FULL, true, out, sizeof out);
}

TEST(undecorate_survives_truncation_and_flips)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const uint8_t *name = (const uint8_t *)rows[i].name;
        test_truncations(name, strlen(rows[i].name), undecorate_damaged, NULL);
        test_flips(name, strlen(rows[i].name), undecorate_damaged, NULL);
    }
}

TEST(undecorate_bounds_what_back_references_double)
{
    /* Each parameter is a function that takes the previous parameter twice. */
    char name[512] = "?f@@YAXP6AXHH@Z", out[UNDECORATED_BYTES];
    for (int i = 0; i < 9; i++) {
        const char more[] = {'P', '6', 'A', 'X', (char)('0' + i), (char)('0' + i), '@', 'Z', '\0'};
        strcat(name, more);
    }
    strcat(name, "@Z");
    (void)undecorate(name, NAMES_FULL, false, out, sizeof out);
    for (size_t i = 0; i < 200; i++)
        name[4 + i] = i % 2 != 0 ? 'A' : 'P';
    name[204] = '\0';
    CHECK_EQ(undecorate(name, NAMES_FULL, false, out, sizeof out), 0);
}
